// Leases of runs: of several daemons on a store, only the lease holder works on a run. A timer
// renews the lease during each turn (loop.ts), and only the holder moves the run. The lease of a
// dead daemon ends automatically.
//
//   lease                            | event                         | then
//   ---------------------------------+-------------------------------+-----------------------
//   none, or ended                   | a daemon finds the run due    | own
//   own                              | a third of a turn's lease, or | renewed
//                                    | half of it before a turn      |
//   of another daemon                | it ends                       | any daemon may take it
import type { App } from '../../core/app.ts';
import { keepLease, leaseDelayMs } from '../../platform/store/changes/lease.ts';
import {
  type DueRun,
  endLeases,
  leaseRun,
  type Moment,
  renewRun,
} from '../../run-ledger/walk-queries.ts';

/** Life of a lease: a crash delays the leased run by at most this time. */
export const leaseMs = 30_000;

/** Returns the worker, and the time to compare leases with (earlier than now by `leaseDelayMs`). */
export function momentOf(app: App, worker: string): Moment {
  return { worker, now: app.clock.now() - leaseDelayMs(app, leaseMs) };
}

/** Takes or renews the lease of a due run. Returns false if another daemon has it. */
export async function takeLease(app: App, worker: string, run: DueRun): Promise<boolean> {
  const moment = momentOf(app, worker);
  const now = app.clock.now();
  const left = (run.leased_until ?? 0) - now;
  if (run.worker === worker && left > leaseMs / 2 && left <= leaseMs) return true;
  return app.store.write((trx) => leaseRun(trx, run.id, moment, now + leaseMs), 'quiet');
}

/** Renews the lease of a run until the returned function is called. */
export function keepRun(app: App, worker: string, { id }: Pick<DueRun, 'id'>): () => void {
  return keepLease(app, {
    leaseMs,
    renew: (until) => app.store.write((trx) => renewRun(trx, id, worker, until), 'quiet'),
    trouble: `the lease of the campaign run ${id} was not renewed`,
  });
}

/** Ends the leases of an earlier daemon. Only on SQLite, which has a single daemon at a time. */
export async function endOldLeases({ store }: App): Promise<void> {
  if (store.kind === 'sqlite') await store.write((trx) => endLeases(trx, null), 'quiet');
}

/** Ends the leases of a daemon that stops. */
export async function endOwnLeases({ store }: App, worker: string): Promise<void> {
  await store.write((trx) => endLeases(trx, worker), 'quiet');
}
