// Actions in mailboxes are kept for `retention.actionsDays`; without it, as long as their mailbox. A proposal stays
// until it is decided or expires. The counts by hour stay.
import type { App } from '../app.ts';
import { sweep } from '../store/sweep.ts';
import { deleteOldActions } from './copy-queries.ts';

const dayMs = 24 * 3_600_000;

/** For the scheduler, each day. Returns how many actions went. */
export async function sweepActions({ config, store, clock }: App): Promise<number> {
  const { actionsDays } = config.retention;
  if (actionsDays === null) return 0;
  const before = clock.now() - actionsDays * dayMs;
  return sweep(store, (trx, limit) => deleteOldActions(trx, before, limit));
}
