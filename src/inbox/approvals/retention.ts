// Retention of actions in mailboxes: `retention.actionsDays`, or without it as long as the mailbox
// exists. An open proposal stays until it is decided or expires. The counts by hour stay.
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import { sweep } from '../../platform/store/rows/sweep.ts';
import { deleteOldActions } from './copy-queries.ts';

const dayMs = 24 * 3_600_000;

/** Deletes old actions, for the daily job. Returns their count. */
export async function sweepActions(app: App): Promise<number> {
  const { config, store } = app;
  const { actionsDays } = config.retention;
  if (actionsDays === null) return 0;
  const before = await timeOfAge(app, actionsDays * dayMs);
  return sweep(store, (trx, limit) => deleteOldActions(trx, before, limit));
}
