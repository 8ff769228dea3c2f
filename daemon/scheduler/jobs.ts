// The daemon's scheduled jobs. Each is short and safe to repeat: all daemons of a store run it, and
// finished work is not repeated.
import { Cron } from 'croner';
import type { App } from '../../src/core/app.ts';

export interface Job {
  name: string;
  /** Five-field cron pattern, UTC. */
  pattern: string;
  run(): Promise<unknown>;
}

/** Starts the jobs; the returned function stops them. A job never overlaps itself. */
export function startJobs(app: App, jobs: readonly Job[]): () => void {
  const timers = jobs.map(
    ({ name, pattern, run }) =>
      new Cron(pattern, { name, timezone: 'UTC', protect: true, unref: true }, async () => {
        try {
          await run();
        } catch (error) {
          app.log.error(
            { err: error, job: name },
            'a scheduled job failed and runs again at its next time',
          );
        }
      }),
  );
  return () => {
    for (const timer of timers) timer.stop();
  };
}
