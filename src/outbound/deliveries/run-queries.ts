// SQL of the deliveries of campaign runs.
import { ownTables } from '../../platform/store/own-tables.ts';
import type { DeliveryRow } from './queries.ts';

const own = ownTables<{ deliveries: DeliveryRow }>();

/** Counts the deliveries of a run that are in the queue. */
export const queuedOfRun = own.first(
  (db, runId: string) =>
    db
      .selectFrom('deliveries')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('campaign_run_id', '=', runId)
      .where('due_at', 'is not', null),
  (row) => row?.count ?? 0,
);
