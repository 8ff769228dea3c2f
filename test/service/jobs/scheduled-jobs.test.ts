// Scheduled jobs: each tick is run by one daemon, another takes over after its death, and missed
// ticks run once.
import { sql } from 'kysely';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Job, type Jobs, startJobs } from '../../../daemon/scheduler/jobs.ts';
import type { App } from '../../../src/core/app.ts';
import { clockJumpsOf } from '../../../src/platform/runtime/clock-jumps.ts';
import { listJobs } from '../../../src/service/jobs/jobs.ts';
import { addJob, claimJob, selectJobs } from '../../../src/service/jobs/queries.ts';
import { runTick, type TickingJob } from '../../../src/service/jobs/run-tick.ts';
import { followSetBacks } from '../../../src/service/jobs/set-back.ts';
import { bothStores, type TestStore } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

/** Reads of the due ticks that have begun, so that a test can wait for those under way. */
const looks = vi.hoisted((): Promise<unknown>[] => []);
vi.mock(import('../../../src/service/jobs/queries.ts'), async (original) => {
  const queries = await original();
  return {
    ...queries,
    selectJobs: (db) => {
      const look = queries.selectJobs(db);
      looks.push(look);
      return look;
    },
  };
});

const minute = 60_000;
const hour = 60 * minute;

let test: TestApp | undefined;
const started: Jobs[] = [];
afterEach(async () => {
  for (const jobs of started.splice(0)) await jobs.stop(0);
  await test?.close();
});

const never = new AbortController().signal;
/** The next full hour. */
const nextAfter = (ms: number) => Math.floor(ms / hour) * hour + hour;

const rowOf = async ({ store }: App, name: string) =>
  (await selectJobs(store.db)).find((row) => row.name === name);

async function begin(app: App, jobs: readonly Job[]): Promise<Jobs> {
  const begun = await startJobs(app, jobs);
  started.push(begun);
  return begun;
}

describe.each(bothStores)('a tick on %s', (store) => {
  async function withJob() {
    test = await testApp({ store });
    const { app, clock } = test;
    await app.store.write((trx) =>
      addJob(trx, { name: 'sweep', nextAt: clock.now(), periodMs: 3_600_000 }),
    );
    const run = vi.fn(async (_signal: AbortSignal) => {});
    const job: TickingJob = { name: 'sweep', run, nextAfter };
    return { app, clock, run, job, another: test.another };
  }

  it('is run by one daemon of a crowd, each time', async () => {
    const { app, clock, run, job, another } = await withJob();
    const apps = [app, await another(), await another()];
    for (let tick = 1; tick <= 10; tick++) {
      const crowd = apps.flatMap((one, index) => [
        runTick(one, job, { holder: `a${index}`, signal: never }),
        runTick(one, job, { holder: `b${index}`, signal: never }),
      ]);
      expect((await Promise.all(crowd)).filter(Boolean)).toHaveLength(1);
      expect(run).toHaveBeenCalledTimes(tick);
      expect(await rowOf(app, 'sweep')).toEqual({
        name: 'sweep',
        next_at: nextAfter(clock.now()),
        period_ms: hour,
        holder: null,
        until: null,
        last_run_at: clock.now(),
        last_error: null,
      });
      clock.set(nextAfter(clock.now()));
    }
  });

  it('that was missed for days runs once', async () => {
    const { app, clock, run, job } = await withJob();
    clock.set(clock.now() + 72 * hour + 5 * minute);
    expect(await runTick(app, job, { holder: 'a', signal: never })).toBe(true);
    expect(await runTick(app, job, { holder: 'a', signal: never })).toBe(false);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('that a wrong clock put more than a period off is due now', async () => {
    const { app, clock, job } = await withJob();
    const put = (nextAt: number) =>
      app.store.write((trx) =>
        sql`update scheduled_jobs set next_at = ${nextAt} where name = 'sweep'`.execute(trx),
      );
    await put(clock.now() + hour);
    expect(await runTick(app, job, { holder: 'a', signal: never })).toBe(false);
    await put(clock.now() + hour + 1);
    expect(await runTick(app, job, { holder: 'a', signal: never })).toBe(true);
    expect(await rowOf(app, 'sweep')).toMatchObject({ next_at: nextAfter(clock.now()) });
  });

  it('of a holder whose lease a wrong clock set is free once the clock is right', async () => {
    const { app, clock, job } = await withJob();
    const right = clock.now();
    const end = followSetBacks(app);
    clock.set(right + 120 * 24 * hour);
    clockJumpsOf(app).look();
    const now = clock.now();
    const claim = { name: 'sweep', holder: 'dead', now, endedTo: now, until: now + minute };
    await app.store.write((trx) => claimJob(trx, claim));
    clock.set(right);
    expect(await runTick(app, job, { holder: 'b', signal: never })).toBe(false);
    clockJumpsOf(app).look();
    await end();
    expect(await runTick(app, job, { holder: 'b', signal: never })).toBe(true);
  });

  it('stores the error of its run until a run succeeds', async () => {
    const { app, clock, job } = await withJob();
    const log = vi.spyOn(app.log, 'error');
    const failing = { ...job, run: () => Promise.reject(new Error('the disk is full')) };
    await runTick(app, failing, { holder: 'a', signal: never });
    expect(log).toHaveBeenCalledWith(
      { err: expect.objectContaining({ message: 'the disk is full' }), job: 'sweep' },
      'a scheduled job failed and runs again at its next time',
    );
    const now = clock.now();
    expect((await listJobs(app.store.db, now)).find(({ name }) => name === 'sweep')).toEqual({
      name: 'sweep',
      nextAt: new Date(nextAfter(now)).toISOString(),
      lastRunAt: new Date(now).toISOString(),
      isRunning: false,
      lastError: 'the disk is full',
    });
    clock.set(nextAfter(now));
    await runTick(app, job, { holder: 'a', signal: never });
    expect((await rowOf(app, 'sweep'))?.last_error).toBeNull();
  });

  it('is given back by a daemon that stops, for another one', async () => {
    const { app, clock, job, another } = await withJob();
    const stopping = new AbortController();
    const run = (signal: AbortSignal) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    const cut = runTick(app, { ...job, run }, { holder: 'a', signal: stopping.signal });
    await vi.waitFor(async () => expect((await rowOf(app, 'sweep'))?.holder).toBe('a'));
    stopping.abort();
    expect(await cut).toBe(true);
    expect(await rowOf(app, 'sweep')).toMatchObject({ next_at: clock.now(), holder: null });
    const other = await another();
    expect(await runTick(other, job, { holder: 'b', signal: never })).toBe(true);
  });
});

describe('the lease of a tick', () => {
  /** A store on which a dead daemon holds the tick for a minute. */
  async function withDeadHolder(store: TestStore) {
    test = await testApp({ store });
    const { app, clock } = test;
    const now = clock.now();
    await app.store.write(async (trx) => {
      await addJob(trx, { name: 'sweep', nextAt: now, periodMs: 3_600_000 });
      const until = now + minute;
      const claim = { name: 'sweep', holder: 'dead', now, endedTo: now, until };
      expect(await claimJob(trx, claim)).toBe(1);
    });
    return { app, clock, job: { name: 'sweep', run: async () => {}, nextAfter } };
  }

  it('ends a minute after the death of its daemon on postgres', async () => {
    const { app, clock, job } = await withDeadHolder('postgres');
    clock.set(clock.now() + minute - 1);
    expect(await runTick(app, job, { holder: 'b', signal: never })).toBe(false);
    clock.set(clock.now() + 1);
    expect(await runTick(app, job, { holder: 'b', signal: never })).toBe(true);
  });

  it('of an earlier daemon ends at the start on sqlite, which has one daemon', async () => {
    const { app, job } = await withDeadHolder('sqlite');
    expect(await runTick(app, job, { holder: 'b', signal: never })).toBe(false);
    await begin(app, []);
    expect(await runTick(app, job, { holder: 'b', signal: never })).toBe(true);
  });

  it('of another daemon stays at a start on postgres', async () => {
    const { app, job } = await withDeadHolder('postgres');
    await begin(app, []);
    expect(await runTick(app, job, { holder: 'b', signal: never })).toBe(false);
  });

  it('is extended while the run continues, and the late end of a holder changes nothing', async () => {
    test = await testApp({ store: 'postgres' });
    const { app, clock, another } = test;
    await app.store.write((trx) =>
      addJob(trx, { name: 'sweep', nextAt: clock.now(), periodMs: 3_600_000 }),
    );
    const end = Promise.withResolvers<void>();
    const job = { name: 'sweep', run: async () => {}, nextAfter };
    const long = runTick(app, { ...job, run: () => end.promise }, { holder: 'a', signal: never });
    await vi.waitFor(async () => expect((await rowOf(app, 'sweep'))?.holder).toBe('a'));
    const other = await another();
    for (let twenty = 0; twenty < 9; twenty++) {
      const { until } = (await rowOf(app, 'sweep')) ?? {};
      await clock.advance(20_000);
      await vi.waitFor(async () =>
        expect((await rowOf(app, 'sweep'))?.until).toBe(Number(until) + 20_000),
      );
      expect(await runTick(other, job, { holder: 'b', signal: never })).toBe(false);
    }
    // Its process was stopped beyond the lease: another one runs the tick.
    const ended = clock.now();
    await app.store.write((trx) => sql`update scheduled_jobs set until = ${ended}`.execute(trx));
    expect(await runTick(other, job, { holder: 'b', signal: never })).toBe(true);
    const held = await rowOf(app, 'sweep');
    end.resolve();
    await long;
    expect(await rowOf(app, 'sweep')).toEqual(held);
  });
});

describe.each(bothStores)('the jobs of daemons on %s', (store) => {
  it('run a tick within a minute that a wrong clock put more than a period off', async () => {
    test = await testApp({ store });
    const { app, clock } = test;
    const run = vi.fn(async () => {});
    const jobs = await begin(app, [{ name: 'sweep', pattern: '23 * * * *', run }]);
    const far = clock.now() + 120 * 24 * hour;
    await app.store.write((trx) => sql`update scheduled_jobs set next_at = ${far}`.execute(trx));
    await clock.advance(minute);
    await jobs.idle();
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('run at their minute until they are stopped, those of each daemon in each', async () => {
    test = await testApp({ store });
    const { app, clock } = test;
    const second = await test.another();
    const shared: string[] = [];
    const own: string[] = [];
    const time = () => new Date(clock.now()).toISOString().slice(11, 16);
    const jobs: Job[] = [
      { name: 'sweep', pattern: '23 * * * *', run: async () => void shared.push(time()) },
      {
        name: 'flush',
        pattern: '40 * * * *',
        run: async () => void own.push(time()),
        isOfEachDaemon: true,
      },
    ];
    const both = [await begin(app, jobs), await begin(second, jobs)];
    for (let hours = 1; hours <= 2; hours++) {
      await clock.advance(23 * minute);
      await vi.waitFor(async () => {
        expect(shared).toHaveLength(hours);
        expect(await rowOf(app, 'sweep')).toMatchObject({
          next_at: clock.now() + hour,
          holder: null,
        });
      });
      await clock.advance(37 * minute);
      await vi.waitFor(() => expect(own).toHaveLength(2 * hours));
    }
    for (const one of both) await one.stop(0);
    await clock.advance(2 * hour);
    expect(shared).toEqual(['12:23', '13:23']);
    expect(own).toEqual(['12:40', '12:40', '13:40', '13:40']);
    expect((await selectJobs(app.store.db)).map(({ name }) => name)).toEqual(['sweep']);
  });

  it('never overlap their own run, and make up for a tick that passed during it', async () => {
    test = await testApp({ store });
    const { app, clock } = test;
    const first = Promise.withResolvers<void>();
    const began: string[] = [];
    const run = () => {
      began.push(new Date(clock.now()).toISOString().slice(11, 16));
      return first.promise;
    };
    await begin(app, [{ name: 'sweep', pattern: '23 * * * *', run }]);
    await clock.advance(23 * minute);
    await vi.waitFor(() => expect(began).toEqual(['12:23']));
    for (let minutes = 0; minutes < 157; minutes++) await clock.advance(minute);
    // A look of 15:00 that is answered after the end of the run would begin the next run at once.
    await Promise.all(looks.splice(0));
    expect(began).toEqual(['12:23']);
    first.resolve();
    await vi.waitFor(async () => expect((await rowOf(app, 'sweep'))?.holder).toBeNull());
    await clock.advance(minute);
    await vi.waitFor(() => expect(began).toEqual(['12:23', '15:01']));
    await vi.waitFor(async () =>
      expect((await rowOf(app, 'sweep'))?.next_at).toBe(clock.now() + 22 * minute),
    );
  });

  it('run at the first minute after a start, if a tick was missed', async () => {
    test = await testApp({ store });
    const { app, clock } = test;
    const run = vi.fn(async () => {});
    const jobs: Job[] = [{ name: 'sweep', pattern: '23 2 * * *', run }];
    await (await begin(app, jobs)).stop(0);
    clock.set(clock.now() + 100 * hour);
    await begin(app, jobs);
    expect(run).not.toHaveBeenCalled();
    await clock.advance(minute);
    await vi.waitFor(async () =>
      expect(await rowOf(app, 'sweep')).toMatchObject({ last_run_at: clock.now() }),
    );
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('of other versions are kept for a month', async () => {
    test = await testApp({ store });
    const { app, clock } = test;
    await app.store.write((trx) =>
      addJob(trx, { name: 'foreign', nextAt: clock.now(), periodMs: 3_600_000 }),
    );
    const names = async () => (await selectJobs(app.store.db)).map(({ name }) => name);
    await clock.advance(30 * 24 * hour);
    await (await begin(app, [])).stop(0);
    expect(await names()).toEqual(['foreign']);
    await clock.advance(1);
    await (await begin(app, [])).stop(0);
    expect(await names()).toEqual([]);
  });
});
