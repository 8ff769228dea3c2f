// The only renewal of leases: a lease lives as long as the holder works. A timer renews it, so that
// no work has to end within a lease. Each unit of work is bounded far below; docs/making/states.md
// lists all leases.
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
  /** Length of the lease. */
  leaseMs: number;
  /** Extends it to `until`, ms since 1970. Renews nothing that a different holder has taken. */
  renew(until: number): Promise<unknown>;
  /** Line of the log for a renewal that fails. */
  trouble: string;
}

/**
 * Returns how much later than the clock leases end: after it was set forward, as far as that, for
 * the length of a lease. SQLite has one daemon, which frees the leases of an earlier daemon at the
 * start.
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

/** Renews a lease, each third of it, until the returned function is called. */
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
