// Renews leases: a timer renews a lease while the holder works, so that work may take longer than a
// lease. docs/making/states.md lists all leases.
//
//   lease    | event                              | then
//   ---------+------------------------------------+----------------------------------------------------
//   held     | a third of it is over              | renewed from then on
//   held     | a renewal fails                    | tried again a third later; two more fit into it
//   held     | the holder ends its work           | no renewal; the holder releases it in its own way
//   held     | the process dies or stands still   | ends: any daemon may take it
//   held     | the clock of all goes forward      | judged by the time before, until its holder has renewed it
import type { Clock } from '../../runtime/clock.ts';
import { clockJumpsOf } from '../../runtime/clock-jumps.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Store } from '../db.ts';

interface Surroundings {
  clock: Clock;
  log: Pick<Logger, 'warn'>;
}

export interface HeldLease {
  /** Length of the lease, in ms. */
  leaseMs: number;
  /** Extends the lease to `until`, ms since 1970, unless a different holder has taken it. */
  renew(until: number): Promise<unknown>;
  /** Log message if a renewal fails. */
  trouble: string;
}

/**
 * Returns the ms to add to the end of leases. After the clock was set forward, it is the size of
 * the jump, for the length of a lease; else 0. On SQLite it is always 0: the single daemon frees
 * the leases of an earlier daemon at the start.
 */
export function leaseDelayMs(
  app: { clock: Clock; store: Pick<Store, 'kind'> },
  leaseMs: number,
): number {
  const jumps = clockJumpsOf(app);
  jumps.look();
  if (app.store.kind === 'sqlite' || jumps.agreedMs >= leaseMs) return 0;
  return Math.max(0, jumps.lastMs);
}

/** Renews a lease after each third of the length, until the returned function is called. */
export function keepLease(
  { clock, log }: Surroundings,
  { leaseMs, renew, trouble }: HeldLease,
): () => void {
  let cancel = () => {};
  let isOver = false;
  const schedule = () => {
    if (!isOver) cancel = clock.after(leaseMs / 3, () => void extend());
  };
  const extend = async () => {
    try {
      await renew(clock.now() + leaseMs);
    } catch (error) {
      log.warn({ err: error }, trouble);
    }
    schedule();
  };
  schedule();
  return () => {
    isOver = true;
    cancel();
  };
}
