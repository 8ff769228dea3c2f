// The pool of a worker: jobs that end it or take too long are refused alone, and turns go by time.
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/platform/runtime/clock.ts';
import { ownHolder } from '../../../../src/platform/runtime/fairness/fair-queue.ts';
import { WorkerPool } from '../../../../src/platform/runtime/workers/pool.ts';
import { Strikes } from '../../../../src/platform/runtime/workers/strikes.ts';
import { LostJob } from '../../../../src/platform/runtime/workers/thread.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const pools: WorkerPool<string, string>[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});

function pool(
  options: { script?: string; mostJobs?: number; deadlineMs?: number; isSmall?: boolean } = {},
): (job: string, org?: string, signal?: AbortSignal) => Promise<string> {
  const { script = './job-worker.ts', mostJobs = 1000, deadlineMs = 1000 } = options;
  const { isSmall = true } = options;
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
  return (job, holder = 'org_1', signal = undefined) =>
    made.run({ holder, bytes: job.length, isSmall, payload: () => job, signal });
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

describe('turns of a pool', () => {
  /**
   * Runs jobs of two organizations, and counts the outcomes of the first before the last of the
   * second.
   */
  async function countBefore(
    run: ReturnType<typeof pool>,
    [many, few]: readonly [readonly string[], readonly string[]],
  ): Promise<number> {
    await run('start');
    let count = 0;
    const counted = many.map(async (job) => {
      await run(job, 'org_1');
      count += 1;
    });
    await counted[0];
    await Promise.all(few.map((job) => run(job, 'org_2')));
    const before = count;
    await Promise.all(counted);
    return before;
  }
  const times = (count: number, job: string) => Array.from({ length: count }, () => job);

  it('end after 50 ms, however many small jobs an organization has', async () => {
    const jobs = [times(24, '20 ms'), ['a']] as const;
    // A turn has three of these jobs. The second begins before the job of the other organization
    // arrives.
    expect(await countBefore(pool(), jobs)).toBeLessThanOrEqual(8);
  });

  it('go by the time of the jobs, not by their number', async () => {
    const jobs = [times(16, '30 ms'), times(16, '2 ms')] as const;
    // 16 turns each by number; by time 32 ms are worth one or two jobs of 30 ms.
    expect(await countBefore(pool({ isSmall: false }), jobs)).toBeLessThanOrEqual(8);
  });

  it('leave out queued jobs whose signal aborts', async () => {
    const run = pool();
    const end = new AbortController();
    const begun = run('20 ms', 'org_1', end.signal);
    const queued = settled(times(40, 'a').map((job) => run(job, 'org_1', end.signal)));
    const other = run('b', 'org_2');
    await Promise.resolve();
    end.abort(new Error('left'));
    expect(await begun).toBe('echo 20 ms');
    expect((await queued).slice(31)).toEqual(times(9, 'left'));
    expect(await other).toBe('echo b');
    expect(await settled([run('c', 'org_1', end.signal)])).toEqual(['left']);
  });

  it('give no job back to the queue after its signal', async () => {
    const run = pool();
    await run('start');
    const end = new AbortController();
    const work = settled(times(8, '30 ms').map((job) => run(job, 'org_1', end.signal)));
    await Promise.resolve();
    end.abort(new Error('left'));
    expect((await work).slice(4)).toEqual(times(4, 'left'));
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
