// The daemon's scheduled jobs. Each is short and safe to repeat: all daemons of a store run it, and
// finished work is not repeated.
//
// The system's clock runs a job at each time of its pattern. By a clock that is advanced (`svc daemon --clock
// virtual`) days pass at once, so that a job runs only where it has something to do:
//
//   a job                 | runs
//   ----------------------+--------------------------------------------------------------------------
//   with `dueAt`          | at the first time of its pattern at or after `dueAt`
//   any other             | once, at the end of an advance that passed a time of its pattern
import { Cron } from 'croner';
import type { App } from '../../src/core/app.ts';
import type { JoinedWork } from '../../src/platform/runtime/clock.ts';

export interface Job {
  name: string;
  /** Five-field cron pattern, UTC. */
  pattern: string;
  run(): Promise<unknown>;
  /** Returns the time at which the job next has something to do; null for never. Ms since 1970. */
  dueAt?(): Promise<number | null>;
}

/** Starts the jobs; the returned function stops them. A job never overlaps itself. */
export function startJobs(app: App, jobs: readonly Job[]): () => void {
  const { join } = app.clock;
  if (join) {
    const ends = jobs.map((job) => join.call(app.clock, advancedJob(app, job)));
    return () => {
      for (const end of ends) end();
    };
  }
  const timers = jobs.map((job) => {
    const options = { name: job.name, timezone: 'UTC', protect: true, unref: true };
    return new Cron(job.pattern, options, () => runJob(app, job));
  });
  return () => {
    for (const timer of timers) timer.stop();
  };
}

async function runJob(app: App, { name, run }: Job): Promise<void> {
  try {
    await run();
  } catch (error) {
    app.log.error(
      { err: error, job: name },
      'a scheduled job failed and runs again at its next time',
    );
  }
}

/** Returns a job as work for a clock that is advanced. */
function advancedJob(app: App, job: Job): JoinedWork {
  const { clock } = app;
  const timer = new Cron(job.pattern, { timezone: 'UTC', paused: true });
  const after = (ms: number) => timer.nextRun(new Date(ms))?.getTime() ?? Number.POSITIVE_INFINITY;
  let ranAt = clock.now();
  let nextAt = Number.POSITIVE_INFINITY;

  const findNext = async () => {
    const dueAt = await job.dueAt?.();
    nextAt = dueAt == null ? Number.POSITIVE_INFINITY : after(Math.max(dueAt - 1, ranAt));
  };

  return {
    async settle(isLast) {
      const now = clock.now();
      await findNext();
      const isDue = job.dueAt ? nextAt <= now : isLast && after(ranAt) <= now;
      if (!isDue) return false;
      ranAt = now;
      await runJob(app, job);
      await findNext();
      return true;
    },
    nextAt: () => nextAt,
  };
}
