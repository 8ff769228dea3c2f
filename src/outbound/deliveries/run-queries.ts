// SQL on the queued `deliveries` of campaign runs. The states are at the head of queries.ts.
import { engineOf } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { DeliveryTables } from './queries.ts';

const own = ownTables<DeliveryTables>();

/**
 * Locks the oldest unclaimed deliveries of a run that are in the queue. Skips deliveries that a
 * daemon has locked: the daemon may wait for the row of the run, which the caller holds.
 */
export const lockQueuedOfRun = own.all((db, runId: string, limit: number) =>
  db
    .selectFrom('deliveries')
    .selectAll()
    .where('campaign_run_id', '=', runId)
    .where('due_at', 'is not', null)
    .where('claimed_by', 'is', null)
    .orderBy('id')
    .limit(limit)
    .$if(engineOf(db) === 'postgres', (q) => q.forUpdate().skipLocked()),
);

/** Counts the deliveries of a run in the queue, up to `most`. */
export const countQueuedOfRun = own.first(
  (db, runId: string, most: number) =>
    db
      .selectFrom(
        db
          .selectFrom('deliveries')
          .select('id')
          .where('campaign_run_id', '=', runId)
          .where('due_at', 'is not', null)
          .limit(most)
          .as('queued'),
      )
      .select(({ fn }) => fn.countAll<number>().as('count')),
  (row) => row?.count ?? 0,
);
