// The daemon's scheduled jobs. All daemons of a store check for due ticks, and a single daemon runs
// each tick (run-tick.ts). Each job is safe to repeat. With the system's clock the check comes at
// each full minute, the shortest interval of a pattern. With a virtual clock (`svc daemon --clock
// virtual`) days pass at once, so a job runs only if it has work:
//
//   a job                 | runs
//   ----------------------+------------------------------------------------------------------------
//   with `dueAt`          | at the first time of the pattern at or after `dueAt`
//   without `dueAt`       | once, at the end of an advance that passed a time of the pattern
import { Cron } from 'croner';
import type { App } from '../../src/core/app.ts';
import { timeOfAge } from '../../src/core/clock/age.ts';
import type { Clock, JoinedWork } from '../../src/platform/runtime/clock.ts';
import { nameTurn } from '../../src/platform/runtime/fairness/loop-turns.ts';
import {
  addJob,
  deleteJob,
  freeJobs,
  type ScheduledJobRow,
  selectJobs,
} from '../../src/service/jobs/queries.ts';
import { runTick, type TickingJob } from '../../src/service/jobs/run-tick.ts';

export interface Job {
  name: string;
  /** Cron pattern of five fields, in UTC. */
  pattern: string;
  /** Does the work; ends early if the signal aborts. */
  run(signal: AbortSignal): Promise<unknown>;
  /** Returns the time at which the job next has work; null for never. Ms since 1970. */
  dueAt?(): Promise<number | null>;
  /** Set for work on the memory of a process: each daemon runs it, and no tick is stored. */
  isOfEachDaemon?: true;
}

export interface Jobs {
  /**
   * Aborts the runs, and releases unfinished ticks. Resolves when all runs have ended, or after
   * `graceMs`.
   */
  stop(graceMs: number): Promise<void>;
  /** Resolves when the last check and the runs that it began have ended; for tests. */
  idle(): Promise<void>;
}

const minuteMs = 60_000;
/** A stored job that this version lacks is deleted when it has been due for this long. */
const forgottenMs = 30 * 24 * 60 * minuteMs;

export async function startJobs(app: App, jobs: readonly Job[]): Promise<Jobs> {
  const timed = jobs.map(timedJob);
  const shared = timed.filter((job) => !job.isOfEachDaemon);
  await prepareStore(app, shared);
  const runs = new Runs(app);
  let looking = Promise.resolve();
  const lookForDue = lookOf(app, timed, runs);
  const look = () => {
    looking = lookForDue();
  };
  const leave = app.clock.join
    ? timed.map((job) => app.clock.join?.(advancedJob(app, job, runs)))
    : [eachMinute(app.clock, look)];
  return {
    async idle() {
      await looking;
      await runs.ended();
    },
    async stop(graceMs) {
      for (const end of leave) end?.();
      await runs.stop(graceMs);
    },
  };
}

interface TimedJob extends TickingJob, Job {
  /** Returns the milliseconds between the next two times of the job after a time. */
  periodAfter(ms: number): number;
}

function timedJob(job: Job): TimedJob {
  const timer = new Cron(job.pattern, { timezone: 'UTC', paused: true });
  const nextAfter = (ms: number) =>
    timer.nextRun(new Date(ms))?.getTime() ?? Number.POSITIVE_INFINITY;
  const periodAfter = (ms: number) => nextAfter(nextAfter(ms)) - nextAfter(ms);
  return { ...job, nextAfter, periodAfter };
}

/**
 * Stores new jobs, so that all daemons know their next tick. Deletes forgotten jobs. Where no
 * second daemon can exist, it ends the leases that an earlier daemon left.
 */
async function prepareStore(app: App, jobs: readonly TimedJob[]): Promise<void> {
  const { clock, store } = app;
  const now = clock.now();
  const forgottenBefore = await timeOfAge(app, forgottenMs);
  const isSole = store.kind === 'sqlite' || clock.join !== undefined;
  const there = await selectJobs(store.db);
  const isKnown = (name: string) => jobs.some((job) => job.name === name);
  const isStored = (job: TimedJob) =>
    there.some((row) => row.name === job.name && row.period_ms === job.periodAfter(now));
  const missing = jobs.filter((job) => !isStored(job));
  const forgotten = there.filter((row) => !isKnown(row.name) && row.next_at < forgottenBefore);
  const leftLeases = isSole && there.some(({ holder }) => holder !== null);
  if (missing.length + forgotten.length === 0 && !leftLeases) return;
  await store.write(async (trx) => {
    if (leftLeases) await freeJobs(trx);
    for (const { name, nextAfter, periodAfter } of missing) {
      await addJob(trx, { name, nextAt: nextAfter(now), periodMs: periodAfter(now) });
    }
    for (const { name } of forgotten) await deleteJob(trx, name);
  }, 'quiet');
}

/** The runs of jobs in this daemon. A job never overlaps with a run of the same job. */
class Runs {
  readonly #app: App;
  readonly #holder: string;
  readonly #stopping = new AbortController();
  readonly #running = new Map<string, Promise<void>>();

  constructor(app: App) {
    this.#app = app;
    this.#holder = app.newId('worker');
  }

  isRunning(name: string): boolean {
    return this.#running.has(name);
  }

  /** Runs a job; a shared job only if this daemon can claim the due tick. Never rejects. */
  run(job: TimedJob): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted) return Promise.resolve();
    nameTurn(`job: ${job.name}`);
    const work = job.isOfEachDaemon
      ? job.run(signal)
      : runTick(this.#app, job, { holder: this.#holder, signal });
    const run = work
      .catch((error: unknown) => {
        this.#app.log.error(
          { err: error, job: job.name },
          'a scheduled job was not run, or its end was not stored',
        );
      })
      .then(() => void this.#running.delete(job.name));
    this.#running.set(job.name, run);
    return run;
  }

  /** Resolves when the current runs have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    const { clock } = this.#app;
    let cancel = () => {};
    const graceOver = new Promise<void>((resolve) => {
      cancel = clock.after(graceMs, resolve);
    });
    await Promise.race([this.ended(), graceOver]);
    cancel();
  }
}

/**
 * Tells whether a tick is due. A tick more than a period ahead counts as due: a clock that was
 * ahead has set it.
 */
function isTickDue(row: ScheduledJobRow | undefined, now: number): boolean {
  if (!row) return false;
  return row.next_at <= now || row.next_at > now + (row.period_ms ?? Number.POSITIVE_INFINITY);
}

/** Returns a function that begins each job that is due, unless the job still runs. */
function lookOf(app: App, jobs: readonly TimedJob[], runs: Runs): () => Promise<void> {
  const { clock, log, store } = app;
  const own = jobs.filter((job) => job.isOfEachDaemon);
  let ownAt = clock.now();
  return async () => {
    const now = clock.now();
    const begin = (job: TimedJob) => {
      if (!runs.isRunning(job.name)) void runs.run(job);
    };
    for (const job of own.filter(({ nextAfter }) => nextAfter(ownAt) <= now)) begin(job);
    ownAt = now;
    try {
      const stored = new Map((await selectJobs(store.db)).map((row) => [row.name, row]));
      const isDue = ({ name }: Job) => isTickDue(stored.get(name), now);
      for (const job of jobs.filter(isDue)) begin(job);
    } catch (error) {
      log.error({ err: error }, 'due scheduled jobs could not be read; next look in a minute');
    }
  };
}

/** Calls `look` at each full minute, until the returned function is called. */
function eachMinute(clock: Clock, look: () => void): () => void {
  let cancel = () => {};
  let isOver = false;
  const schedule = () => {
    const delayMs = minuteMs - (clock.now() % minuteMs);
    cancel = clock.after(delayMs, () => {
      if (isOver) return;
      look();
      schedule();
    });
  };
  schedule();
  return () => {
    isOver = true;
    cancel();
  };
}

/** Wraps a job for a virtual clock, which runs it by the rules in the head comment. */
function advancedJob({ clock }: App, job: TimedJob, runs: Runs): JoinedWork {
  let ranAt = clock.now();
  let nextAt = Number.POSITIVE_INFINITY;

  const findNext = async () => {
    const dueAt = await job.dueAt?.();
    nextAt = dueAt == null ? Number.POSITIVE_INFINITY : job.nextAfter(Math.max(dueAt - 1, ranAt));
  };

  return {
    async settle(isLast) {
      const now = clock.now();
      await findNext();
      const isDue = job.dueAt ? nextAt <= now : isLast && job.nextAfter(ranAt) <= now;
      if (!isDue) return false;
      ranAt = now;
      await runs.run(job);
      await findNext();
      return true;
    },
    nextAt: () => nextAt,
  };
}
