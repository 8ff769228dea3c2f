// A tick of a scheduled job. A single daemon of the store runs each tick, under a lease in
// `scheduled_jobs`.
//
//   row      | event                                     | then
//   ---------+-------------------------------------------+------------------------------------------------
//   waiting  | `next_at` has come, a daemon claims it    | running, for a lease
//   running  | a third of the lease has passed           | running, the lease begins anew
//   running  | the run ends, or throws                   | waiting for the next time, with the error
//   running  | the daemon stops                          | waiting with the same `next_at`: another runs it
//   running  | the lease ends without a renewal          | as waiting: any daemon may claim it
//   waiting  | `next_at` is more than a period ahead     | as if it had come: a clock that ran ahead set it
//
// A daemon that was suspended for longer than the lease may run a job beside the next holder: all
// jobs tolerate that. Missed ticks count as a single tick, which runs late.
import type { App } from '../../core/app.ts';
import { messageOf } from '../../platform/errors.ts';
import { keepLease, leaseDelayMs } from '../../platform/store/changes/lease.ts';
import { claimJob, endJob, extendJob, giveBackJob } from './queries.ts';

const leaseMs = 60_000;
const longestErrorText = 500;

export interface TickingJob {
  name: string;
  /** Does the work of a tick; ends early if the signal aborts. */
  run(signal: AbortSignal): Promise<unknown>;
  /** Returns the time of the first tick after `ms`. Both are ms since 1970. */
  nextAfter(ms: number): number;
}

/**
 * Runs a job if the tick is due and no other daemon runs it. An error of the job goes to the log
 * and to the row of the job.
 * @returns whether it ran
 */
export async function runTick(
  app: App,
  { name, run, nextAfter }: TickingJob,
  { holder, signal }: { holder: string; signal: AbortSignal },
): Promise<boolean> {
  const { clock, store } = app;
  const now = clock.now();
  const endedTo = now - leaseDelayMs(app, leaseMs);
  const claim = { name, holder, now, endedTo, until: now + leaseMs };
  if ((await store.write((trx) => claimJob(trx, claim), 'quiet')) === 0) return false;
  const endLease = keepLease(app, {
    leaseMs,
    renew: (until) => store.write((trx) => extendJob(trx, { name, holder, until }), 'quiet'),
    trouble: `the lease of the scheduled job "${name}" was not renewed`,
  });
  let error: string | null = null;
  try {
    await run(signal);
  } catch (thrown) {
    error = messageOf(thrown).slice(0, longestErrorText);
    app.log.error(
      { err: thrown, job: name },
      'a scheduled job failed and runs again at its next time',
    );
  } finally {
    endLease();
  }
  await store.write(
    (trx) =>
      signal.aborted
        ? giveBackJob(trx, { name, holder })
        : endJob(trx, { name, holder, ranAt: now, nextAt: nextAfter(now), error }),
    'quiet',
  );
  return true;
}
