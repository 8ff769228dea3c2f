// SQL on `campaign_runs` and `campaign_recipients` for lists and for the erasure of campaigns. Rows
// only.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Db, tables } from '../platform/store/db.ts';
import { ownTables } from '../platform/store/own-tables.ts';
import { type RecipientRow, type RunState, type RunTables, stateColumns } from './queries.ts';
import type { RunOutcome, RunStatus } from './schema.ts';

const own = ownTables<RunTables>();
const on = tables<RunTables>;

/** Returns up to `limit` runs of a campaign with a lower id than `before`, newest first. */
export function selectRuns(
  db: Db,
  organizationId: string,
  campaignId: string,
  {
    before,
    limit,
    within,
  }: { before: string | undefined; limit: number; within: RawBuilder<SqlBool> | undefined },
): Promise<RunState[]> {
  return on(db)
    .selectFrom('campaign_runs')
    .select(stateColumns)
    .where('organization_id', '=', organizationId)
    .where('campaign_id', '=', campaignId)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .$if(within !== undefined, (query) => query.where(within ?? sql<SqlBool>`true`))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Finds the run with this idempotency key. */
export const findRunByKey = own.first((db, organizationId: string, key: string) =>
  db
    .selectFrom('campaign_runs')
    .select(stateColumns)
    .where('organization_id', '=', organizationId)
    .where('idempotency_key', '=', key),
);

const openStatuses: readonly RunStatus[] = ['scheduled', 'running', 'paused', 'held'];

/** Finds a run of the campaign that has not ended, or that still has queued mail to cancel. */
export const findOpenRun = own.first((db, organizationId: string, campaignId: string) =>
  db
    .selectFrom('campaign_runs')
    .select(['id', 'status'])
    .where('organization_id', '=', organizationId)
    .where('campaign_id', '=', campaignId)
    .where((eb) => eb.or([eb('status', 'in', openStatuses), eb('due_at', 'is not', null)]))
    .orderBy('id', 'desc')
    .limit(1),
);

/** Conditions on the rows of a ledger. Undefined conditions do not apply. */
export interface RecipientFilter {
  outcome: RunOutcome | undefined;
  reason: string | undefined;
  where: RawBuilder<SqlBool> | undefined;
  within?: RawBuilder<SqlBool> | undefined;
}

/** Returns up to `limit` rows of a ledger with a contact id above `after`, by contact id. */
export function selectRecipients(
  db: Db,
  runId: string,
  { outcome, reason, where, within }: RecipientFilter,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<RecipientRow[]> {
  let query = on(db)
    .selectFrom('campaign_recipients')
    .selectAll()
    .where('run_id', '=', runId)
    .where('contact_id', '>', after ?? '');
  if (outcome !== undefined) query = query.where('outcome', '=', outcome);
  if (reason !== undefined) query = query.where('reason', '=', reason);
  if (where !== undefined) query = query.where(where);
  if (within !== undefined) query = query.where(within);
  return query.orderBy('contact_id').limit(limit).execute();
}

/**
 * Finds the first run left of a campaign, for the erasure of the campaign. `shared` has the data
 * that all messages of the run share.
 */
export const findRunOf = own.first((db, organizationId: string, campaignId: string) =>
  db
    .selectFrom('campaign_runs')
    .select(['id', 'shared'])
    .where('organization_id', '=', organizationId)
    .where('campaign_id', '=', campaignId)
    .orderBy('id')
    .limit(1),
);

/** Deletes up to `limit` rows of a ledger; returns the number of deleted rows. */
export const deleteRecipients = own.change((db, runId: string, limit: number) =>
  db
    .deleteFrom('campaign_recipients')
    .where(
      'contact_id',
      'in',
      db
        .selectFrom('campaign_recipients')
        .select('contact_id')
        .where('run_id', '=', runId)
        .orderBy('contact_id')
        .limit(limit),
    )
    .where('run_id', '=', runId),
);

/** Deletes a run. The caller has deleted the ledger before. */
export const deleteRun = own.run((db, id: string) =>
  db.deleteFrom('campaign_runs').where('id', '=', id),
);
