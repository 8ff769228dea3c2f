// SQL of the queue of webhooks: `webhook_deliveries`, `webhook_attempts`. list-queries.ts has the
// lists for the API. Rows only, no decisions.
//
//   a delivery | due_at           | claimed_by
//   -----------+------------------+-----------
//   waits      | the next attempt | null
//   claimed    | end of the lease | the daemon
//   ended      | null             | null
import { sql } from 'kysely';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { AttemptRow, DeliveryRow, type EndpointRow, type WebhookTables } from '../rows.ts';

const own = ownTables<WebhookTables>();

const lockDeliveries = own.lockerOf('webhook_deliveries');

export const insertDeliveries = own.bulkInsert('webhook_deliveries', DeliveryRow);

/** Endpoint with deliveries that have not ended. */
export interface EndpointWork {
  id: string;
  organization_id: string;
  status: EndpointRow['status'];
  failing_since: number | null;
  /** Earliest due time of a delivery, without replays; null if no such delivery waits. */
  live_due: number | null;
  replay_due: number | null;
}

/**
 * Returns up to `limit` endpoints with an id after `after`, by id. Needs three index reads for each
 * endpoint, however many deliveries wait.
 */
export const endpointsWithWork = own.all((db, after: string, limit: number) => {
  const firstDue = (isReplay: number) => sql`(select min(d.due_at) from webhook_deliveries d
      where d.endpoint_id = found.id and d.is_replay = ${sql.lit(isReplay)}
        and d.due_at is not null)`;
  const next = (id: unknown) => sql`(select d.endpoint_id from webhook_deliveries d
      where d.due_at is not null and d.endpoint_id > ${id} order by d.endpoint_id limit 1)`;
  const work = sql<EndpointWork>`
      with recursive found (id, place) as (
        select ${next(after)}, 1
        union all
        select ${next(sql`found.id`)}, place + 1 from found
          where found.id is not null and place < ${limit})
      select found.id, e.organization_id, e.status, e.failing_since,
        ${firstDue(0)} as live_due, ${firstDue(1)} as replay_due
      from found join webhook_endpoints e on e.id = found.id`;
  return { compile: () => work.compile(db) };
});

interface Claim {
  endpointId: string;
  isReplay: number;
  now: number;
  leaseUntil: number;
  worker: string;
  limit: number;
}

/** Leases due deliveries of an endpoint, the longest due first. */
export const claimDue = own.all((db, values: Claim) => {
  const due = db
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('endpoint_id', '=', values.endpointId)
    .where('is_replay', '=', values.isReplay)
    .where('due_at', 'is not', null)
    .where('due_at', '<=', values.now)
    .orderBy('due_at')
    .orderBy('id')
    .limit(values.limit)
    .$if(engineOf(db) === 'postgres', (q) => q.forUpdate().skipLocked());
  return db
    .updateTable('webhook_deliveries')
    .set({ claimed_by: values.worker, due_at: values.leaseUntil })
    .where('id', 'in', due)
    .returningAll();
});

/** Delivery after an attempt. */
interface Settled
  extends Pick<DeliveryRow, 'id' | 'status' | 'attempt_count' | 'due_at' | 'updated_at'> {
  last_attempt_at: number;
  worker: string;
}

/**
 * Settles a claimed delivery. Returns false if another daemon has claimed it or the delivery is
 * gone.
 */
export const settleClaimed = own.change(
  (db, values: Settled) =>
    db
      .updateTable('webhook_deliveries')
      .set({
        status: values.status,
        attempt_count: values.attempt_count,
        due_at: values.due_at,
        claimed_by: null,
        last_attempt_at: values.last_attempt_at,
        updated_at: values.updated_at,
      })
      .where('id', '=', values.id)
      .where('claimed_by', '=', values.worker),
  (count) => count > 0,
);

export const insertAttempts = own.bulkInsert('webhook_attempts', AttemptRow);

/** Selects waiting deliveries of an endpoint, and claimed deliveries with an expired lease. */
function selectWaiting(trx: Db, endpointId: string, now: number, limit: number) {
  return tables<WebhookTables>(trx)
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('endpoint_id', '=', endpointId)
    .where('due_at', 'is not', null)
    .where((eb) => eb.or([eb('claimed_by', 'is', null), eb('due_at', '<=', now)]))
    .orderBy('id')
    .limit(limit)
    .$if(engineOf(trx) === 'postgres', (q) => q.forUpdate().skipLocked());
}

/** Cancels up to `limit` deliveries that wait or have an expired lease; returns their rows. */
export function cancelWaiting(
  trx: Db,
  endpointId: string,
  now: number,
  limit: number,
): Promise<DeliveryRow[]> {
  const waiting = selectWaiting(trx, endpointId, now, limit);
  return cancelWhere(trx, now).where('id', 'in', waiting).returningAll().execute();
}

/** Cancels deliveries of these kinds like `cancelWaiting`; returns their rows. */
export function cancelOfKinds(
  trx: Db,
  endpointId: string,
  types: readonly string[],
  now: number,
  limit: number,
): Promise<DeliveryRow[]> {
  const waiting = selectWaiting(trx, endpointId, now, limit)
    .where('event_type', ...isOneOf(trx, types))
    .where('status', '=', 'pending');
  return cancelWhere(trx, now).where('id', 'in', waiting).returningAll().execute();
}

/** Cancels deliveries that this worker has claimed; returns their rows. */
export function cancelClaimed(
  trx: Db,
  worker: string,
  ids: readonly string[],
  now: number,
): Promise<DeliveryRow[]> {
  return cancelWhere(trx, now)
    .where('id', ...isOneOf(trx, ids))
    .where('claimed_by', '=', worker)
    .returningAll()
    .execute();
}

function cancelWhere(trx: Db, now: number) {
  return tables<WebhookTables>(trx)
    .updateTable('webhook_deliveries')
    .set({ status: 'cancelled', due_at: null, claimed_by: null, updated_at: now });
}

/** Makes deliveries due now that are dated after `latest`, because a clock ran ahead. */
export const bringDeliveriesToPresent = own.toPresent('webhook_deliveries', 'due_at');

/** Extends the leases of these deliveries that the worker still holds. */
export async function renewDeliveries(
  trx: Db,
  worker: string,
  ids: readonly string[],
  until: number,
): Promise<void> {
  await lockDeliveries(trx, ids);
  await tables<WebhookTables>(trx)
    .updateTable('webhook_deliveries')
    .set({ due_at: until })
    .where('id', ...isOneOf(trx, ids))
    .where('claimed_by', '=', worker)
    .execute();
}

/**
 * Releases claimed deliveries, which are then due at `now`; returns their number. Null `ids` mean
 * all deliveries, a null `worker` any worker.
 */
export async function releaseDeliveries(
  trx: Db,
  worker: string | null,
  ids: readonly string[] | null,
  now: number,
): Promise<number> {
  if (ids !== null) await lockDeliveries(trx, ids);
  else if (worker !== null) await lockClaimed(trx, [worker]);
  const { numUpdatedRows } = await tables<WebhookTables>(trx)
    .updateTable('webhook_deliveries')
    .set({ claimed_by: null, due_at: now })
    .where('claimed_by', 'is not', null)
    .$if(worker !== null, (q) => q.where('claimed_by', '=', worker))
    .$if(ids !== null, (q) => q.where('id', ...isOneOf(trx, ids ?? [])))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

const lockClaimed = own.lockerOf('webhook_deliveries', { by: 'claimed_by' });

/** Removes up to `limit` deliveries of an endpoint with their attempts; returns the number. */
export async function deleteSome(trx: Db, endpointId: string, limit: number): Promise<number> {
  const rows = await tables<WebhookTables>(trx)
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('endpoint_id', '=', endpointId)
    // Sorts as the index does: otherwise PostgreSQL would scan the table.
    .orderBy('status')
    .orderBy('id')
    .limit(limit)
    .execute();
  const ids = rows.map(({ id }) => id);
  await deleteDeliveries(trx, ids);
  return ids.length;
}

/** Deletes deliveries with their attempts. */
export async function deleteDeliveries(trx: Db, ids: readonly string[]): Promise<void> {
  const db = tables<WebhookTables>(trx);
  await lockDeliveries(trx, ids);
  await db
    .deleteFrom('webhook_attempts')
    .where('delivery_id', ...isOneOf(trx, ids))
    .execute();
  await db
    .deleteFrom('webhook_deliveries')
    .where('id', ...isOneOf(trx, ids))
    .execute();
}

function selectPending(db: Db, most: number) {
  return tables<WebhookTables>(db)
    .selectFrom('webhook_deliveries')
    .select('due_at')
    .where('due_at', 'is not', null)
    .limit(most);
}

async function countOf(db: Db, pending: ReturnType<typeof selectPending>): Promise<number> {
  const { count } = await tables<WebhookTables>(db)
    .selectFrom(pending.as('pending'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Counts the pending replays of an endpoint, up to `most`. */
export function countReplays(db: Db, endpointId: string, most: number): Promise<number> {
  const replays = selectPending(db, most)
    .where('endpoint_id', '=', endpointId)
    .where('is_replay', '=', 1);
  return countOf(db, replays);
}

/** Counts pending deliveries, up to `most`. */
export function countPending(db: Db, most: number): Promise<number> {
  return countOf(db, selectPending(db, most));
}
