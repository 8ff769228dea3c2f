// Leases of runs: of several daemons on one store one walks a run. Each page renews the lease in its own
// transaction, and only its holder moves the run. The lease of a dead daemon ends by itself.
//
//   lease                            | event                         | then
//   ---------------------------------+-------------------------------+--------------------------------
//   none, or ended                   | a daemon finds the run due    | its own
//   own                              | half of it is over            | renewed
//   of another                       | it ends                       | any daemon may take it
//   later than any lease can end     | the clock was set back        | any daemon may take it
import type { App } from '../../core/app.ts';
import { type DueRun, endLeases, leaseRun, type Moment } from '../../people/runs/walk-queries.ts';

/** Length of a lease: several times that of the slowest page. */
export const leaseMs = 30_000;
/** The clocks of two daemons differ by less. */
const skewMs = 5_000;

/** Returns the present moment of a worker. */
export function momentOf({ clock }: App, worker: string): Moment {
  const now = clock.now();
  return { worker, now, latest: now + leaseMs + skewMs };
}

/** Takes or renews the lease of a due run. Returns false if another daemon has it. */
export async function takeLease(app: App, worker: string, run: DueRun): Promise<boolean> {
  const moment = momentOf(app, worker);
  const left = (run.leased_until ?? 0) - moment.now;
  if (run.worker === worker && left > leaseMs / 2 && left <= leaseMs) return true;
  return app.store.write((trx) => leaseRun(trx, run.id, moment, moment.now + leaseMs), 'quiet');
}

/** Ends the leases that an earlier daemon left: on SQLite there is only one at a time. */
export async function endOldLeases({ store }: App): Promise<void> {
  if (store.kind === 'sqlite') await store.write((trx) => endLeases(trx, null), 'quiet');
}

/** Ends the leases of a daemon that stops. */
export async function endOwnLeases({ store }: App, worker: string): Promise<void> {
  await store.write((trx) => endLeases(trx, worker), 'quiet');
}
