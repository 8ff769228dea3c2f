// All SQL on `webhook_endpoints`, `webhook_changes`, `webhook_deliveries`, `webhook_attempts` and
// `webhook_counters` but that of delivering. Rows only, no decisions.
import { type Kysely, type SqlBool, sql } from 'kysely';
import {
  bulkInsert,
  type Db,
  engineOf,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
  tables,
} from '../store/db.ts';
import { type Filter, rowsOf } from '../store/rows.ts';

export interface EndpointRow {
  id: string;
  organization_id: string;
  name: string | null;
  url: string;
  /** JSON of patterns. */
  events: string;
  /** JSON. */
  channels: string;
  /** JSON, encrypted; null for none. */
  headers: string | null;
  status: 'active' | 'disabled';
  disabled_reason: string | null;
  /** Encrypted. */
  secret: string;
  /** Encrypted; null where the secret was never rotated. */
  previous_secret: string | null;
  /** Until when both sign, ms since 1970. */
  previous_until: number | null;
  /** The first failure after the last success, ms since 1970. */
  failing_since: number | null;
  created_at: number;
  updated_at: number;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'exhausted' | 'cancelled';

export interface DeliveryRow {
  id: string;
  organization_id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  /** Of events on a message. */
  message_id: string | null;
  status: DeliveryStatus;
  attempt_count: number;
  /** Null once it has ended. */
  due_at: number | null;
  claimed_by: string | null;
  is_replay: number;
  last_attempt_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface AttemptRow {
  id: string;
  delivery_id: string;
  trigger: 'automatic' | 'manual';
  at: number;
  duration_ms: number;
  outcome: 'succeeded' | 'failed';
  status_code: number | null;
  error_class: string | null;
  response: string | null;
}

/** Deliveries of an endpoint that were made in a quarter hour, by where they stand. */
export interface CounterRow extends Record<DeliveryStatus, number> {
  endpoint_id: string;
  quarter: number;
}

interface WebhookTables {
  webhook_endpoints: EndpointRow;
  webhook_changes: { counter: number };
  webhook_deliveries: DeliveryRow;
  webhook_attempts: AttemptRow;
  webhook_counters: CounterRow;
}

export const endpoints = rowsOf<EndpointRow>('webhook_endpoints', 'webhook');

const deliveries = rowsOf<DeliveryRow>('webhook_deliveries', 'webhook-delivery');

const changes = statement<WebhookTables, object, { counter: number }>((db) =>
  db.selectFrom('webhook_changes').select('counter'),
);

/** Grows with every change of an endpoint. */
export async function countEndpointChanges(db: Db): Promise<number> {
  return (await changes(db, {}))[0]?.counter ?? 0;
}

export async function addEndpointChange(trx: Db): Promise<void> {
  await tables<WebhookTables>(trx)
    .updateTable('webhook_changes')
    .set(({ eb }) => ({ counter: eb('counter', '+', 1) }))
    .execute();
}

type Subscription = Pick<EndpointRow, 'id' | 'events'>;

const active = statement<WebhookTables, { organizationId: string }, Subscription>((db, parameter) =>
  db
    .selectFrom('webhook_endpoints')
    .select(['id', 'events'])
    .where('organization_id', '=', parameter('organizationId'))
    .where('status', '=', 'active'),
);

/** Those of an organization that are posted to, in no order. */
export function findActiveEndpoints(db: Db, organizationId: string): Promise<Subscription[]> {
  return active(db, { organizationId });
}

const activeOnes = statement<WebhookTables, { ids: unknown }, { id: string }>((db, parameter) => {
  const rows = db
    .selectFrom('webhook_endpoints')
    .select('id')
    .where(isOneOf(db, 'id', parameter('ids')))
    .where('status', '=', 'active')
    .orderBy('id');
  return engineOf(db) === 'postgres' ? rows.forShare() : rows;
});

/** Which of these are posted to; on PostgreSQL they stay so until the transaction ends. */
export async function lockActive(trx: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await activeOnes(trx, { ids: idList(trx, ids) });
  return new Set(rows.map(({ id }) => id));
}

export const insertDeliveries = bulkInsert<WebhookTables>('webhook_deliveries', [
  'id',
  'organization_id',
  'endpoint_id',
  'event_id',
  'event_type',
  'message_id',
  'status',
  'attempt_count',
  'due_at',
  'claimed_by',
  'is_replay',
  'last_attempt_at',
  'created_at',
  'updated_at',
]);

export interface DeliveryFilter {
  status?: DeliveryStatus | undefined;
  eventType?: string | undefined;
  /** Ms since 1970; those made then and later. */
  since?: number | undefined;
}

/** A page of those of an endpoint, newest first, and how many there are. */
export function pageDeliveries(
  db: Db,
  organizationId: string,
  endpointId: string,
  { status, eventType, since }: DeliveryFilter,
  page: { page: number; limit: number },
): Promise<{ rows: DeliveryRow[]; total: number }> {
  const equal = { endpoint_id: endpointId, status, event_type: eventType };
  const where = since === undefined ? undefined : sql<SqlBool>`created_at >= ${since}`;
  const filter: Filter<DeliveryRow> = { equal, where };
  return deliveries.page(db, organizationId, page, filter);
}

/** Null where the endpoint has no such delivery. */
export async function findDelivery(
  db: Db,
  organizationId: string,
  endpointId: string,
  id: string,
): Promise<DeliveryRow | null> {
  const row = await deliveries.find(db, organizationId, id);
  return row?.endpoint_id === endpointId ? row : null;
}

/** Of an endpoint in one status, made from `since` to before `until`; the oldest first, after `after`. */
export function selectDeliveries(
  db: Db,
  endpointId: string,
  { status, since, until }: { status: DeliveryStatus; since: number; until: number },
  after: string,
  limit: number,
): Promise<DeliveryRow[]> {
  return tables<WebhookTables>(db)
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('endpoint_id', '=', endpointId)
    .where('id', '>', after)
    .where('status', '=', status)
    .where('created_at', '>=', since)
    .where('created_at', '<', until)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Oldest first. */
export function selectAttempts(db: Db, deliveryId: string, limit: number): Promise<AttemptRow[]> {
  return tables<WebhookTables>(db)
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('delivery_id', '=', deliveryId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Some of an endpoint's, locked until the transaction ends, in the order of their ids. */
async function lockSome(
  trx: Db,
  endpointId: string,
  limit: number,
  onlyPending: boolean,
): Promise<Pick<DeliveryRow, 'id' | 'created_at'>[]> {
  return tables<WebhookTables>(trx)
    .selectFrom('webhook_deliveries')
    .select(['id', 'created_at'])
    .where('endpoint_id', '=', endpointId)
    .$if(onlyPending, (query) => query.where('due_at', 'is not', null))
    .orderBy('id')
    .limit(limit)
    .$if(engineOf(trx) === 'postgres', (query) => query.forUpdate())
    .execute();
}

/** Ends some that wait as `cancelled`; returns when they were made. */
export async function cancelSome(
  trx: Db,
  endpointId: string,
  now: number,
  limit: number,
): Promise<number[]> {
  const rows = await lockSome(trx, endpointId, limit, true);
  const ids = rows.map(({ id }) => id);
  await tables<WebhookTables>(trx)
    .updateTable('webhook_deliveries')
    .set({ status: 'cancelled', due_at: null, claimed_by: null, updated_at: now })
    .where(isOneOf(trx, 'id', idList(trx, ids)))
    .execute();
  return rows.map(({ created_at }) => created_at);
}

/** Removes some of an endpoint's deliveries with their attempts; returns how many. */
export async function deleteSome(trx: Db, endpointId: string, limit: number): Promise<number> {
  const ids = (await lockSome(trx, endpointId, limit, false)).map(({ id }) => id);
  const packed = idList(trx, ids);
  await tables<WebhookTables>(trx)
    .deleteFrom('webhook_attempts')
    .where(isOneOf(trx, 'delivery_id', packed))
    .execute();
  await tables<WebhookTables>(trx)
    .deleteFrom('webhook_deliveries')
    .where(isOneOf(trx, 'id', packed))
    .execute();
  return ids.length;
}

const addCounts = statement((db: Kysely<WebhookTables>, parameter: ParameterOf<CounterRow>) =>
  db
    .insertInto('webhook_counters')
    .values({
      endpoint_id: parameter('endpoint_id'),
      quarter: parameter('quarter'),
      pending: parameter('pending'),
      delivered: parameter('delivered'),
      exhausted: parameter('exhausted'),
      cancelled: parameter('cancelled'),
    })
    .onConflict((conflict) =>
      conflict.columns(['endpoint_id', 'quarter']).doUpdateSet((set) => ({
        pending: set('webhook_counters.pending', '+', set.ref('excluded.pending')),
        delivered: set('webhook_counters.delivered', '+', set.ref('excluded.delivered')),
        exhausted: set('webhook_counters.exhausted', '+', set.ref('excluded.exhausted')),
        cancelled: set('webhook_counters.cancelled', '+', set.ref('excluded.cancelled')),
      })),
    ),
);

export async function addToCounters(trx: Db, row: CounterRow): Promise<void> {
  await addCounts(trx, row);
}

export async function deleteCounters(trx: Db, endpointId: string): Promise<void> {
  await tables<WebhookTables>(trx)
    .deleteFrom('webhook_counters')
    .where('endpoint_id', '=', endpointId)
    .execute();
}

/** Sums of one day; `day`: how many times `dayMs` after `from` it begins. */
export interface DaySums extends Record<DeliveryStatus, number> {
  day: number;
}

/** Days of equal length, one after another: from `from` to before `to`. */
export interface Days {
  from: number;
  to: number;
  dayMs: number;
}

/** Sums of days of one length; a day without any is left out. */
export async function sumDays(
  db: Db,
  endpointId: string,
  { from, to, dayMs }: Days,
): Promise<DaySums[]> {
  // SQLite divides as real numbers what it is given as such, so the quotient is cut there.
  const whole =
    engineOf(db) === 'postgres'
      ? sql`(quarter - ${from}::bigint) / ${dayMs}::bigint`
      : sql`cast((quarter - ${from}) / ${dayMs} as integer)`;
  const sum = (column: DeliveryStatus) =>
    sql<number>`cast(sum(${sql.ref(column)}) as bigint)`.as(column);
  return tables<WebhookTables>(db)
    .selectFrom('webhook_counters')
    .select([
      whole.$castTo<number>().as('day'),
      sum('pending'),
      sum('delivered'),
      sum('exhausted'),
      sum('cancelled'),
    ])
    .where('endpoint_id', '=', endpointId)
    .where('quarter', '>=', from)
    .where('quarter', '<', to)
    .groupBy(sql`1`)
    .execute();
}
