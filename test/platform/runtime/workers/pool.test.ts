// The pool of a worker: jobs that end it or take too long are refused alone.
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/platform/runtime/clock.ts';
import { ownHolder } from '../../../../src/platform/runtime/fair-queue.ts';
import { WorkerPool } from '../../../../src/platform/runtime/workers/pool.ts';
import { Strikes } from '../../../../src/platform/runtime/workers/strikes.ts';
import { LostJob } from '../../../../src/platform/runtime/workers/thread.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const pools: WorkerPool<string, string>[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});

function pool(
  options: { script?: string; mostJobs?: number; deadlineMs?: number } = {},
): (job: string, org?: string) => Promise<string> {
  const { script = './job-worker.ts', mostJobs = 1000, deadlineMs = 1000 } = options;
  const made = new WorkerPool<string, string>({
    clock: systemClock,
    script: new URL(script, import.meta.url),
    deadlineMs,
    heapMb: 32,
    mostJobs,
    mostBytes: 1_000_000,
    firstBytes: 1000,
    refuse: (why) => new Error(why),
  });
  pools.push(made);
  return (job, holder = 'org_1') =>
    made.run({ holder, bytes: job.length, isSmall: true, payload: () => job });
}

const settled = (work: Promise<string>[]) => Promise.all(work.map((one) => one.catch(reasonOf)));

function reasonOf(error: Error): string {
  if (!(error instanceof LostJob)) return error.message;
  if (!error.isBegun) return 'not begun';
  return error.isTimeout ? 'timeout' : 'crash';
}

describe('a pool', () => {
  it.each([
    ['exit', 'crash'],
    ['throw', 'crash'],
    ['memory', 'crash'],
    ['spin', 'timeout'],
  ])('refuses the job %s with %s, and no other', async (job, reason) => {
    const run = pool({ deadlineMs: job === 'spin' ? 1000 : 30_000 });
    const work = ['a', 'b', job, 'c', 'd'].map((one) => run(one));
    expect(await settled(work)).toEqual(['echo a', 'echo b', reason, 'echo c', 'echo d']);
  });

  it('loses all jobs if its worker cannot start', async () => {
    const run = pool({ script: './none.ts' });
    expect(await settled([run('a'), run('b')])).toEqual(['not begun', 'not begun']);
  });

  it('refuses an organization beyond its share', async () => {
    const run = pool({ mostJobs: 16 });
    const work = Array.from({ length: 40 }, () => run('a'));
    const other = run('b', 'org_2');
    expect((await settled(work)).filter((one) => one === 'full').length).toBeGreaterThan(3);
    expect(await other).toBe('echo b');
  });

  it('pauses an organization whose jobs ended three workers', async () => {
    const run = pool();
    const work = ['exit', 'exit', 'exit', 'a', 'b'].map((job) => run(job));
    const other = run('c', 'org_2');
    expect(await settled(work)).toEqual(['crash', 'crash', 'crash', 'paused', 'paused']);
    expect(await settled([run('d')])).toEqual(['paused']);
    expect(await other).toBe('echo c');
  });

  it('has no pause for jobs of the daemon', async () => {
    const run = pool();
    const work = ['exit', 'exit', 'exit', 'a'].map((job) => run(job, ownHolder));
    expect(await settled(work)).toEqual(['crash', 'crash', 'crash', 'echo a']);
  });

  it('refuses queued and running jobs when it closes', async () => {
    const run = pool();
    const work = settled([run('spin'), run('b', 'org_2')]);
    await pools[0]?.close();
    expect(await work).toEqual(['closed', 'closed']);
    expect(await settled([run('c')])).toEqual(['closed']);
  });
});

describe('strikes', () => {
  it('pause an organization at its third ended worker for 10 seconds', async () => {
    const clock = virtualClock(Date.UTC(2026, 0, 1));
    const strikes = new Strikes(clock);
    const paused = () => [strikes.isPaused('org_1'), strikes.isPaused('org_2')];
    strikes.add('org_1');
    strikes.add('org_1');
    expect(paused()).toEqual([false, false]);
    strikes.add('org_1');
    expect(paused()).toEqual([true, false]);
    await clock.advance(10_000);
    expect(paused()).toEqual([false, false]);
  });
});
