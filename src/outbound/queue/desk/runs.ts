// Queued mail of campaign runs: freed when the run resumes, ended when the run is cancelled,
// counted for the walk of the run (src/campaigns/walk). ../claiming/stops.ts keeps the mail of a
// stopped run back. On PostgreSQL a claim that finds a stopped run waits for the row of that run.
// So a transaction that has locked the row never waits for deliveries.
import type { App } from '../../../core/app.ts';
import type { Db } from '../../../platform/store/db.ts';
import { countQueuedOfRun, lockQueuedOfRun } from '../../deliveries/run-queries.ts';
import { lockMessages } from '../../messages/queries.ts';
import { endUnsent } from '../claiming/end-unsent.ts';
import { stopOfRun } from '../claiming/stops.ts';
import { countDropped } from '../settling/outcome-counts.ts';
import { emptyLane } from './queue-walk.ts';

/** Deliveries of a run are counted up to this number. */
const mostCounted = 5_001;

/** Makes mail ready that waited for the resume of the run. May be repeated, as after a crash. */
export function releaseRun(app: App, runId: string): Promise<void> {
  return emptyLane(app, stopOfRun(runId));
}

/**
 * Ends up to `limit` deliveries of a cancelled run that have not been sent, and returns how many.
 * Deliveries in an attempt end after it: as sent, or as cancelled before the next attempt.
 */
export async function cancelRun(app: App, trx: Db, runId: string, limit: number): Promise<number> {
  const rows = await lockQueuedOfRun(trx, runId, limit);
  await lockMessages(
    trx,
    rows.map((row) => row.message_id),
  );
  const ended = await endUnsent(app, trx, rows);
  if (ended.length > 0) await countDropped(app, trx, ended);
  return ended.length;
}

/** Counts the deliveries of a run in the queue, up to 5,001. */
export function queuedOfRun(db: Db, runId: string): Promise<number> {
  return countQueuedOfRun(db, runId, mostCounted);
}
