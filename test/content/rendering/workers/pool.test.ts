// The pool of a worker: jobs that end it or take too long are refused alone.
import { afterEach, describe, expect, it } from 'vitest';
import { WorkerPool } from '../../../../src/content/rendering/workers/pool.ts';
import { Strikes } from '../../../../src/content/rendering/workers/strikes.ts';
import { systemClock } from '../../../../src/platform/runtime/clock.ts';
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
    smallBytes: 1000,
    mostTogether: 8,
    full: () => new Error('full'),
    errors: {
      timeout: () => new Error('timeout'),
      crash: () => new Error('crash'),
      unavailable: () => new Error('unavailable'),
    },
  });
  pools.push(made);
  return (job, organizationId = 'org_1') =>
    made.run({ organizationId, bytes: job.length, payload: () => job });
}

const settled = (work: Promise<string>[]) =>
  Promise.all(work.map((one) => one.catch((error: Error) => error.message)));

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

  it('refuses all jobs if its worker cannot start', async () => {
    const run = pool({ script: './none.ts' });
    expect(await settled([run('a'), run('b')])).toEqual(['unavailable', 'unavailable']);
  });

  it('refuses an organization beyond its share', async () => {
    const run = pool({ mostJobs: 16 });
    const work = Array.from({ length: 40 }, () => run('a'));
    const other = run('b', 'org_2');
    expect((await settled(work)).filter((one) => one === 'full').length).toBeGreaterThan(3);
    expect(await other).toBe('echo b');
  });

  it('refuses queued and running jobs when it closes', async () => {
    const run = pool();
    const work = settled([run('spin'), run('b', 'org_2')]);
    await pools[0]?.close();
    expect(await work).toEqual(['unavailable', 'unavailable']);
    expect(await settled([run('c')])).toEqual(['unavailable']);
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
