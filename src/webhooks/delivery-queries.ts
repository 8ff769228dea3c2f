// SQL on what is delivered to endpoints: `webhook_deliveries`, `webhook_attempts`, `webhook_bodies`, and what
// the delivery needs of `webhook_endpoints` and `webhook_counters`. Rows only, no decisions.
//
//   a delivery | due_at           | claimed_by
//   -----------+------------------+-----------
//   waits      | its next attempt | null
//   claimed    | end of its lease | the daemon
//   ended      | null             | null
//
// Locks are taken in this order: endpoints, deliveries, counters; each by id.
import { sql } from 'kysely';
import {
  bulkInsert,
  change,
  type Db,
  engineOf,
  idList,
  isOneOf,
  statement,
  tables,
} from '../store/db.ts';
import type { DeliveryStatus } from './queries.ts';

export interface WebhookRow {
  id: string;
  organization_id: string;
  name: string | null;
  url: string;
  /** JSON. */
  events: string;
  /** JSON. */
  channels: string;
  /** JSON, encrypted. */
  headers: string | null;
  status: 'active' | 'disabled';
  disabled_reason: string | null;
  /** Encrypted. */
  secret: string;
  previous_secret: string | null;
  previous_until: number | null;
  failing_since: number | null;
  cancel_before: number | null;
  created_at: number;
  updated_at: number;
}

export interface WebhookDeliveryRow {
  id: string;
  organization_id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  message_id: string | null;
  status: DeliveryStatus;
  attempt_count: number;
  due_at: number | null;
  claimed_by: string | null;
  is_replay: number;
  last_attempt_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface WebhookAttemptRow {
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

export interface WebhookBodyRow {
  event_id: string;
  organization_id: string;
  message_id: string | null;
  body: string;
  created_at: number;
}

interface WebhookTables {
  webhook_endpoints: WebhookRow;
  webhook_deliveries: WebhookDeliveryRow;
  webhook_attempts: WebhookAttemptRow;
  webhook_bodies: WebhookBodyRow;
}

/** An endpoint with deliveries that have not ended. */
export interface EndpointWork {
  id: string;
  organization_id: string;
  status: WebhookRow['status'];
  failing_since: number | null;
  /** When the first of its live deliveries is due, of its replays. */
  live_due: number | null;
  replay_due: number | null;
}

/**
 * By id after `after`, at most `limit`: three reads of an index for each endpoint, however many of its
 * deliveries wait.
 */
export async function endpointsWithWork(
  db: Db,
  after: string,
  limit: number,
): Promise<EndpointWork[]> {
  const firstDue = (isReplay: number) => sql`(select min(d.due_at) from webhook_deliveries d
    where d.endpoint_id = found.id and d.is_replay = ${sql.lit(isReplay)} and d.due_at is not null)`;
  const next = (id: unknown) => sql`(select d.endpoint_id from webhook_deliveries d
    where d.due_at is not null and d.endpoint_id > ${id} order by d.endpoint_id limit 1)`;
  const { rows } = await sql<EndpointWork>`
    with recursive found (id, place) as (
      select ${next(after)}, 1
      union all
      select ${next(sql`found.id`)}, place + 1 from found
        where found.id is not null and place < ${limit})
    select found.id, e.organization_id, e.status, e.failing_since,
      ${firstDue(0)} as live_due, ${firstDue(1)} as replay_due
    from found join webhook_endpoints e on e.id = found.id`.execute(db);
  return rows;
}

interface Claim {
  endpointId: string;
  isReplay: number;
  now: number;
  leaseUntil: number;
  worker: string;
  limit: number;
}

const claim = statement<WebhookTables, Claim, WebhookDeliveryRow>((db, parameter) => {
  const due = db
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('endpoint_id', '=', parameter('endpointId'))
    .where('is_replay', '=', parameter('isReplay'))
    .where('due_at', 'is not', null)
    .where('due_at', '<=', parameter('now'))
    .orderBy('due_at')
    .orderBy('id')
    .limit(parameter('limit'))
    .$if(engineOf(db) === 'postgres', (q) => q.forUpdate().skipLocked());
  return db
    .updateTable('webhook_deliveries')
    .set({ claimed_by: parameter('worker'), due_at: parameter('leaseUntil') })
    .where('id', 'in', due)
    .returningAll();
});

/** Leases what of an endpoint is due, the longest due first. */
export function claimDue(trx: Db, values: Claim): Promise<WebhookDeliveryRow[]> {
  return claim(trx, values);
}

const endpointsById = statement<WebhookTables, { ids: unknown }, WebhookRow>((db, parameter) =>
  db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where(isOneOf(db, 'id', parameter('ids'))),
);

export async function findEndpoints(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, WebhookRow>> {
  const rows = await endpointsById(db, { ids: idList(db, ids) });
  return new Map(rows.map((row) => [row.id, row]));
}

/** Locks them until the end of the transaction; ids are sorted. */
export async function lockEndpoints(
  trx: Db,
  ids: readonly string[],
): Promise<Map<string, WebhookRow>> {
  if (engineOf(trx) === 'sqlite') return findEndpoints(trx, ids);
  const rows = await tables<WebhookTables>(trx)
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where(isOneOf(trx, 'id', idList(trx, ids)))
    .orderBy('id')
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

export async function findEndpoint(
  db: Db,
  organizationId: string,
  id: string,
): Promise<WebhookRow | undefined> {
  const row = (await findEndpoints(db, [id])).get(id);
  return row?.organization_id === organizationId ? row : undefined;
}

export function findDelivery(
  db: Db,
  organizationId: string,
  endpointId: string,
  id: string,
): Promise<WebhookDeliveryRow | undefined> {
  return tables<WebhookTables>(db)
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirst();
}

export async function setEndpoint(
  trx: Db,
  id: string,
  values: Partial<Omit<WebhookRow, 'id' | 'organization_id'>>,
): Promise<void> {
  await tables<WebhookTables>(trx)
    .updateTable('webhook_endpoints')
    .set(values)
    .where('id', '=', id)
    .execute();
}

const failingSince = change<WebhookTables, { id: string; since: number | null }>((db, parameter) =>
  db
    .updateTable('webhook_endpoints')
    .set({ failing_since: parameter('since') })
    .where('id', '=', parameter('id')),
);

export async function setFailingSince(trx: Db, id: string, since: number | null): Promise<void> {
  await failingSince(trx, { id, since });
}

/** A delivery after an attempt. */
interface Settled
  extends Pick<WebhookDeliveryRow, 'id' | 'status' | 'attempt_count' | 'due_at' | 'updated_at'> {
  last_attempt_at: number;
  worker: string;
  leaseUntil: number;
}

const settle = change<WebhookTables, Settled>((db, parameter) =>
  db
    .updateTable('webhook_deliveries')
    .set({
      status: parameter('status'),
      attempt_count: parameter('attempt_count'),
      due_at: parameter('due_at'),
      claimed_by: null,
      last_attempt_at: parameter('last_attempt_at'),
      updated_at: parameter('updated_at'),
    })
    .where('id', '=', parameter('id'))
    .where('claimed_by', '=', parameter('worker'))
    .where('due_at', '=', parameter('leaseUntil')),
);

/** False where the lease has run out meanwhile, or the delivery is gone. */
export async function settleClaimed(trx: Db, values: Settled): Promise<boolean> {
  return (await settle(trx, values)) > 0;
}

export const insertAttempts = bulkInsert<WebhookTables>('webhook_attempts', [
  'id',
  'delivery_id',
  'trigger',
  'at',
  'duration_ms',
  'outcome',
  'status_code',
  'error_class',
  'response',
]);

/** Ends deliveries that wait, of those that nobody works on; returns them. */
export function cancelWaiting(
  trx: Db,
  endpointId: string,
  now: number,
  limit: number,
): Promise<WebhookDeliveryRow[]> {
  const waiting = tables<WebhookTables>(trx)
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('endpoint_id', '=', endpointId)
    .where('due_at', 'is not', null)
    .where((eb) => eb.or([eb('claimed_by', 'is', null), eb('due_at', '<=', now)]))
    .orderBy('id')
    .limit(limit)
    .$if(engineOf(trx) === 'postgres', (q) => q.forUpdate().skipLocked());
  return cancelWhere(trx, now).where('id', 'in', waiting).returningAll().execute();
}

/** Ends deliveries that this worker has claimed. */
export function cancelClaimed(
  trx: Db,
  worker: string,
  ids: readonly string[],
  now: number,
): Promise<WebhookDeliveryRow[]> {
  return cancelWhere(trx, now)
    .where(isOneOf(trx, 'id', idList(trx, ids)))
    .where('claimed_by', '=', worker)
    .returningAll()
    .execute();
}

function cancelWhere(trx: Db, now: number) {
  return tables<WebhookTables>(trx)
    .updateTable('webhook_deliveries')
    .set({ status: 'cancelled', due_at: null, claimed_by: null, updated_at: now });
}

/** Hands back what was claimed and not attempted; `ids` null: all of this worker, `worker` null: of any. */
export async function releaseDeliveries(
  trx: Db,
  worker: string | null,
  ids: readonly string[] | null,
  now: number,
): Promise<number> {
  const { numUpdatedRows } = await tables<WebhookTables>(trx)
    .updateTable('webhook_deliveries')
    .set({ claimed_by: null, due_at: now })
    .where('claimed_by', 'is not', null)
    .$if(worker !== null, (q) => q.where('claimed_by', '=', worker))
    .$if(ids !== null, (q) => q.where(isOneOf(trx, 'id', idList(trx, ids ?? []))))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Counted up to `most`. */
export async function countPending(db: Db, most: number): Promise<number> {
  const pending = tables<WebhookTables>(db)
    .selectFrom('webhook_deliveries')
    .select('due_at')
    .where('due_at', 'is not', null)
    .limit(most)
    .as('pending');
  const { count } = await tables<WebhookTables>(db)
    .selectFrom(pending)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

const bodies = statement<
  WebhookTables,
  { ids: unknown },
  Pick<WebhookBodyRow, 'event_id' | 'body'>
>((db, parameter) =>
  db
    .selectFrom('webhook_bodies')
    .select(['event_id', 'body'])
    .where(isOneOf(db, 'event_id', parameter('ids'))),
);

/** The bodies that are kept, by event. */
export async function findBodies(
  db: Db,
  eventIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await bodies(db, { ids: idList(db, eventIds) });
  return new Map(rows.map(({ event_id, body }) => [event_id, body]));
}

const keepBody = change<WebhookTables, WebhookBodyRow>((db, parameter) =>
  db
    .insertInto('webhook_bodies')
    .values({
      event_id: parameter('event_id'),
      organization_id: parameter('organization_id'),
      message_id: parameter('message_id'),
      body: parameter('body'),
      created_at: parameter('created_at'),
    })
    .onConflict((conflict) => conflict.column('event_id').doNothing()),
);

/** False where there is one of this event already. */
export async function insertBody(trx: Db, row: WebhookBodyRow): Promise<boolean> {
  return (await keepBody(trx, row)) > 0;
}

/** Puts a body in the place of the one that is kept, if any. */
export async function replaceBody(trx: Db, row: WebhookBodyRow): Promise<void> {
  await tables<WebhookTables>(trx)
    .insertInto('webhook_bodies')
    .values(row)
    .onConflict((conflict) => conflict.column('event_id').doUpdateSet({ body: row.body }))
    .execute();
}

/** Events of a message that were to be delivered, once each. */
export function eventsOfMessage(
  db: Db,
  messageId: string,
): Promise<
  Pick<WebhookDeliveryRow, 'organization_id' | 'event_id' | 'event_type' | 'created_at'>[]
> {
  return tables<WebhookTables>(db)
    .selectFrom('webhook_deliveries')
    .select(({ fn }) => [
      'organization_id',
      'event_id',
      'event_type',
      fn.min<number>('created_at').as('created_at'),
    ])
    .where('message_id', '=', messageId)
    .groupBy(['organization_id', 'event_id', 'event_type'])
    .orderBy('event_id')
    .execute();
}

/** Of ended deliveries made before `time`, the oldest. */
export async function idsOfOldDeliveries(db: Db, time: number, limit: number): Promise<string[]> {
  const rows = await tables<WebhookTables>(db)
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('created_at', '<', time)
    .where('due_at', 'is', null)
    .orderBy('created_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** With their attempts. Nothing works on what has ended. */
export async function deleteDeliveries(trx: Db, ids: readonly string[]): Promise<void> {
  const packed = idList(trx, ids);
  const db = tables<WebhookTables>(trx);
  await db
    .deleteFrom('webhook_attempts')
    .where(isOneOf(trx, 'delivery_id', packed))
    .execute();
  await db
    .deleteFrom('webhook_deliveries')
    .where(isOneOf(trx, 'id', packed))
    .execute();
}

/** Attempts older than `time`, of deliveries that are younger or gone too; how many went. */
export function deleteOldAttempts(trx: Db, time: number, limit: number): Promise<number> {
  return deleteOld(trx, 'webhook_attempts', 'id', 'at', time, limit);
}

export function deleteOldBodies(trx: Db, time: number, limit: number): Promise<number> {
  return deleteOld(trx, 'webhook_bodies', 'event_id', 'created_at', time, limit);
}

async function deleteOld(
  trx: Db,
  table: string,
  key: string,
  time: string,
  before: number,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`delete from ${sql.table(table)} where ${sql.ref(key)} in (
    select ${sql.ref(key)} from ${sql.table(table)} where ${sql.ref(time)} < ${before}
    order by ${sql.ref(time)} limit ${limit})`.execute(trx);
  return Number(numAffectedRows ?? 0);
}
