// SQL on `campaign_runs` and `campaign_recipients`, with list-queries.ts (lists, erasure) and
// walk-queries.ts (the loop). Rows only, no decisions.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Db, engineOf, isOneOf, tables } from '../platform/store/db.ts';
import { ownTables } from '../platform/store/own-tables.ts';
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
  hold_detail: string | null;
  /** Counters as JSON, as of the last hold for bad health. */
  excluded_counts: string | null;
  last_contact_id: string | null;
  last_of_audience: string | null;
  wait_reason: RunWaitReason | null;
  next_dispatch_at: number | null;
  dispatched_at: number | null;
  worker: string | null;
  leased_until: number | null;
  due_at: number | null;
  created_by: string | null;
  /** Address of the member at that time; null for a key. */
  actor_email: string | null;
  member_role: string | null;
  is_test: number;
  created_at: number;
  updated_at: number;
  /** JSON of the audience. */
  audience_snapshot: string | null;
  policy_snapshot: string | null;
  /** JSON of the data that all messages of the run share. */
  shared: string | null;
  content_snapshot: string | null;
}

/** A contact of a run with the decision to send or to skip. */
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
  unsubscribed_at!: number | null;
}

export interface RunTables {
  campaign_runs: RunRow;
  campaign_recipients: RecipientRow;
}

const own = ownTables<RunTables>();
const on = tables<RunTables>;

export const runs = own.rowsOf('campaign_runs', 'campaign-run');

/** A run without the audience, the content and the data that messages share, which can be large. */
export type RunState = Omit<RunRow, 'audience_snapshot' | 'shared' | 'content_snapshot'>;

export const stateColumns = [
  'id',
  'organization_id',
  'campaign_id',
  'status',
  'scheduled_for',
  'idempotency_key',
  'fingerprint',
  'retry_of',
  'only_new',
  'started_at',
  'completed_at',
  'total_recipients',
  'dispatched_count',
  'failed_count',
  'skipped_count',
  'failure_reason',
  'hold_reason',
  'hold_domain_id',
  'hold_detail',
  'excluded_counts',
  'last_contact_id',
  'last_of_audience',
  'wait_reason',
  'next_dispatch_at',
  'dispatched_at',
  'worker',
  'leased_until',
  'due_at',
  'created_by',
  'actor_email',
  'member_role',
  'is_test',
  'created_at',
  'updated_at',
  'policy_snapshot',
] as const satisfies readonly (keyof RunState)[];

const lockRuns = own.lockerOf('campaign_runs');

export const findRunState = own.first((db, id: string) =>
  db.selectFrom('campaign_runs').select(stateColumns).where('id', '=', id),
);

/** Locks a run until the transaction ends, and returns it. */
export async function lockRun(trx: Db, id: string): Promise<RunState | undefined> {
  await lockRuns(trx, [id]);
  return findRunState(trx, id);
}

/** Changes a row that the caller has locked, and returns it. */
export function updateRun(trx: Db, id: string, changes: Partial<RunRow>): Promise<RunState> {
  return on(trx)
    .updateTable('campaign_runs')
    .set(changes)
    .where('id', '=', id)
    .returning(stateColumns)
    .executeTakeFirstOrThrow();
}

export const insertRecipients = own.bulkInsert('campaign_recipients', RecipientRow);

/** Returns the contacts among `contactIds` with a row in a ledger of the runs. */
export const judgedAmong = own.all(
  (db, runIds: readonly string[], contactIds: readonly string[]) =>
    db
      .selectFrom('campaign_recipients')
      .select('contact_id')
      .where('run_id', ...isOneOf(db, runIds))
      .where('contact_id', ...isOneOf(db, contactIds)),
  (rows) => rows.map(({ contact_id }) => contact_id),
);

/** Returns the given address hashes that already have a message of the run. */
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

/** An act of a contact, such as a click, on mail of a campaign. */
interface Act {
  organizationId: string;
  campaignId: string;
  way: 'opened' | 'clicked' | 'received';
  /** Time from which acts count, ms since 1970. */
  since: number;
}

const actColumns = { opened: 'opened_at', clicked: 'clicked_at', received: 'created_at' } as const;

/**
 * Returns the SQL condition that a contact opened, clicked or got a message of any run of the
 * campaign. The query looks up a single row of each run.
 */
export function activityOf(
  db: Db,
  { organizationId, campaignId, way, since }: Act,
  contactId: RawBuilder<unknown>,
): RawBuilder<SqlBool> {
  const ofCampaign = sql`select id from campaign_runs
    where organization_id = ${organizationId} and campaign_id = ${campaignId}`;
  // PostgreSQL computes an array once; with `in` it would join the whole ledger.
  const ofRun =
    engineOf(db) === 'postgres' ? sql`= any(array(${ofCampaign}))` : sql`in (${ofCampaign})`;
  return sql`((select 1 from campaign_recipients one where one.run_id ${ofRun}
    and one.contact_id = ${contactId} and one.outcome = 'dispatched'
    and one.${sql.ref(actColumns[way])} >= ${since} limit 1) is not null)`;
}

/** Returns the SQL condition that a contact opened, clicked or got a message of any run. */
export function activityAmongAll(
  { way, since }: Pick<Act, 'way' | 'since'>,
  contactId: RawBuilder<unknown>,
): RawBuilder<SqlBool> {
  return sql`((select 1 from campaign_recipients one where one.contact_id = ${contactId}
    and one.outcome = 'dispatched' and one.${sql.ref(actColumns[way])} >= ${since}
    limit 1) is not null)`;
}

/** Statuses of a run that keep queued mail back. */
export type StoppedStatus = Extract<RunStatus, 'paused' | 'held' | 'cancelled'>;

/**
 * Finds the paused, held and cancelled runs among `ids`. Every claim of mail of runs calls it. On
 * PostgreSQL the status of these runs cannot change until the transaction ends.
 */
export const lockStoppedRuns = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('campaign_runs')
    .select(['id', 'status'])
    .where('id', ...isOneOf(db, ids))
    .where('status', 'in', ['paused', 'held', 'cancelled'])
    .orderBy('id')
    .$if(engineOf(db) === 'postgres', (q) => q.forShare())
    .$narrowType<{ status: StoppedStatus }>(),
);

/** Times of the first open and click of a message by a person; null leaves the stored time. */
export interface RecipientMark {
  run_id: string;
  contact_id: string;
  message_id: string;
  opened_at: number | null;
  clicked_at: number | null;
}

/**
 * Records the first open and click of a contact in the ledger. The caller has locked the message.
 */
export const markEngaged = own.run((db, mark: RecipientMark) =>
  db
    .updateTable('campaign_recipients')
    .set({
      opened_at: sql<number | null>`coalesce(opened_at, ${mark.opened_at})`,
      clicked_at: sql<number | null>`coalesce(clicked_at, ${mark.clicked_at})`,
    })
    .where('run_id', '=', mark.run_id)
    .where('contact_id', '=', mark.contact_id)
    .where('message_id', '=', mark.message_id),
);

/**
 * Marks a contact of the ledger as unsubscribed. Returns false if the contact is marked already or
 * not in the ledger.
 */
export const markUnsubscribed = own.change(
  (db, runId: string, contactId: string, now: number) =>
    db
      .updateTable('campaign_recipients')
      .set({ unsubscribed_at: now })
      .where('run_id', '=', runId)
      .where('contact_id', '=', contactId)
      .where('unsubscribed_at', 'is', null),
  (count) => count > 0,
);

/**
 * Removes the data of a deleted contact from the ledger: the hash of the address, and reasons of
 * failures, which may quote the address. The id stays, so that the counts of the runs add up. The
 * caller has locked the contact.
 */
export async function forgetInLedger(
  trx: Db,
  organizationId: string,
  contactId: string,
): Promise<void> {
  const runIds = (await selectRunsOf(trx, organizationId, contactId)).map(({ run_id }) => run_id);
  for (const runId of runIds) await forgetIn(trx, runId, contactId);
}

/**
 * Selects the runs of the organization with the contact in their ledger, and locks the rows in the
 * order of the runs.
 */
const selectRunsOf = own.all((db, organizationId: string, contactId: string) =>
  db
    .selectFrom('campaign_recipients')
    .select('run_id')
    .where('run_id', 'in', (runsOf) =>
      runsOf.selectFrom('campaign_runs').select('id').where('organization_id', '=', organizationId),
    )
    .where('contact_id', '=', contactId)
    .orderBy('run_id')
    .$if(engineOf(db) === 'postgres', (q) => q.forUpdate()),
);

const forgetIn = own.run((db, runId: string, contactId: string) =>
  db
    .updateTable('campaign_recipients')
    .set({
      address_key: null,
      reason: sql<string | null>`case when outcome = 'failed' then null else reason end`,
    })
    .where('run_id', '=', runId)
    .where('contact_id', '=', contactId),
);

/** Erases the address of a member in the runs that the member made. */
export const eraseRunNames = own.namesIn('campaign_runs', { created_by: 'actor_email' });
