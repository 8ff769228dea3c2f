// All SQL on `campaign_runs` and `campaign_recipients`. Rows only, no decisions.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Db, engineOf, isOneOf } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { RunOutcome, RunStatus, RunWaitReason, SkipReason } from './schema.ts';

export interface RunRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  status: RunStatus;
  scheduled_for: number | null;
  idempotency_key: string | null;
  fingerprint: string;
  retry_of: string | null;
  only_new: number;
  started_at: number | null;
  completed_at: number | null;
  total_recipients: number;
  dispatched_count: number;
  failed_count: number;
  skipped_count: number;
  failure_reason: string | null;
  hold_reason: string | null;
  hold_domain_id: string | null;
  last_contact_id: string | null;
  last_of_audience: string | null;
  wait_reason: RunWaitReason | null;
  next_dispatch_at: number | null;
  dispatched_at: number | null;
  worker: string | null;
  leased_until: number | null;
  due_at: number | null;
  created_by: string | null;
  member_role: string | null;
  is_test: number;
  created_at: number;
  updated_at: number;
  /** JSON of Audience and of the policy. */
  audience_snapshot: string | null;
  policy_snapshot: string | null;
  /** JSON of what the messages share. */
  shared: string | null;
  content_snapshot: string | null;
}

/** A judged contact. */
export class RecipientRow {
  run_id!: string;
  contact_id!: string;
  outcome!: RunOutcome;
  reason!: SkipReason | string | null;
  message_id!: string | null;
  address_key!: number | null;
  created_at!: number;
  opened_at!: number | null;
  clicked_at!: number | null;
}

interface RunTables {
  campaign_runs: RunRow;
  campaign_recipients: RecipientRow;
}

const own = ownTables<RunTables>();

export const runs = own.rowsOf('campaign_runs', 'campaign-run');

export const insertRecipients = own.bulkInsert('campaign_recipients', RecipientRow);

/** Finds those of these contacts that one of the runs has judged. */
export const judgedAmong = own.all(
  (db, runIds: readonly string[], contactIds: readonly string[]) =>
    db
      .selectFrom('campaign_recipients')
      .select('contact_id')
      .where('run_id', ...isOneOf(db, runIds))
      .where('contact_id', ...isOneOf(db, contactIds)),
  (rows) => rows.map(({ contact_id }) => contact_id),
);

/** Finds those of these addresses that have a message of the run, by the hash of the ledger. */
export const addressKeysAmong = own.all(
  (db, runId: string, addressKeys: readonly number[]) =>
    db
      .selectFrom('campaign_recipients')
      .select('address_key')
      .where('run_id', '=', runId)
      .where('address_key', 'is not', null)
      .where('address_key', ...isOneOf(db, addressKeys)),
  (rows) => rows.map(({ address_key }) => address_key),
);

/** An act of a contact on mail of a campaign. */
interface Act {
  organizationId: string;
  campaignId: string;
  way: 'opened' | 'clicked' | 'received';
  /** Ms since 1970. */
  since: number;
}

const actColumns = { opened: 'opened_at', clicked: 'clicked_at', received: 'created_at' } as const;

/**
 * For queries on contacts: whether a contact opened, clicked or got a message of any run of the campaign. Looks
 * up one row of each run.
 */
export function activityOf(
  db: Db,
  { organizationId, campaignId, way, since }: Act,
  contactId: RawBuilder<unknown>,
): RawBuilder<SqlBool> {
  const ofCampaign = sql`select id from campaign_runs
    where organization_id = ${organizationId} and campaign_id = ${campaignId}`;
  // An array of PostgreSQL is computed once; `in` would become a join with the whole ledger.
  const ofRun =
    engineOf(db) === 'postgres' ? sql`= any(array(${ofCampaign}))` : sql`in (${ofCampaign})`;
  return sql`((select 1 from campaign_recipients one where one.run_id ${ofRun}
    and one.contact_id = ${contactId} and one.outcome = 'dispatched'
    and one.${sql.ref(actColumns[way])} >= ${since} limit 1) is not null)`;
}
