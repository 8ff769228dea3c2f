// Starts the jobs of seed-process.ts on the store of a daemon that does not run.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { showProgress } from './progress.ts';
import type { SeedJob } from './seed-process.ts';

async function run(env: Record<string, string>, job: SeedJob): Promise<unknown> {
  const child = fork(join(import.meta.dirname, 'seed-process.ts'), [JSON.stringify(job)], {
    env: { ...process.env, ...env },
  });
  const kill = () => child.kill();
  process.once('exit', kill);
  let answer: unknown;
  child.on('message', (message) => {
    answer = message;
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.off('exit', kill);
  if (code !== 0) throw new Error(`the ${job.job} job ended with ${code}`);
  return answer;
}

/** Adds `rows` queued messages. */
export async function seedStore(
  env: Record<string, string>,
  job: Omit<Extract<SeedJob, { job: 'seed' }>, 'job'>,
): Promise<void> {
  const stop = showProgress(`writing ${job.rows} ${job.state} rows`);
  await run(env, { job: 'seed', ...job }).finally(stop);
}

/** Measures a claim of 100 inside its transaction, in ms. */
export async function claimMsOf(env: Record<string, string>): Promise<number> {
  const answer = await run(env, { job: 'time-claims', limit: 100, times: 15 });
  return (answer as { claimMs: number }).claimMs;
}
