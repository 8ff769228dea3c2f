// Retention of stored answers for idempotency keys.
import type { App } from '../../../core/app.ts';
import { timeOfAge } from '../../../core/clock/age.ts';
import { sweep } from '../../../platform/store/rows/sweep.ts';
import { deleteOldAnswers } from './queries.ts';

const keptMs = 24 * 3_600_000;

/** Deletes answers after 24 hours, for the daily job. Returns their count. */
export async function sweepAnswers(app: App): Promise<number> {
  const before = await timeOfAge(app, keptMs);
  return sweep(app.store, (trx, limit) => deleteOldAnswers(trx, before, limit));
}
