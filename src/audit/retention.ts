// Audit entries are kept for `retention.auditDays`; without it, for ever.
import type { App } from '../app.ts';
import { sweep } from '../store/sweep.ts';
import { deleteOldEntries } from './queries.ts';

const dayMs = 24 * 3_600_000;

/** For the scheduler, each day. Returns how many entries went. */
export async function sweepAudit({ config, store, clock }: App): Promise<number> {
  const { auditDays } = config.retention;
  if (auditDays === null) return 0;
  const before = clock.now() - auditDays * dayMs;
  return sweep(store, (trx, limit) => deleteOldEntries(trx, before, limit));
}
