// Retention of audit entries: `retention.auditDays`, or for ever if that is not set.
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import { sweep } from '../../platform/store/rows/sweep.ts';
import { deleteOldEntries } from './queries.ts';

const dayMs = 24 * 3_600_000;

/** Deletes old entries; for the scheduler, each day. Returns the number of deleted entries. */
export async function sweepAudit(app: App): Promise<number> {
  const { config, store } = app;
  const { auditDays } = config.retention;
  if (auditDays === null) return 0;
  const before = await timeOfAge(app, auditDays * dayMs);
  return sweep(store, (trx, limit) => deleteOldEntries(trx, before, limit));
}
