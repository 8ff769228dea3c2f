// SQL on what of webhooks is old: rows that go by their age, some at a time. Rows only.
import { sql } from 'kysely';
import { type Db, engineOf, tables } from '../store/db.ts';
import type { DeliveryRow, WebhookTables } from './rows.ts';

type OldDelivery = Pick<DeliveryRow, 'id' | 'endpoint_id' | 'status' | 'created_at'>;

/** Of ended deliveries made before `time`, the oldest; what others hold waits for the next time. */
export function oldDeliveries(trx: Db, time: number, limit: number): Promise<OldDelivery[]> {
  return tables<WebhookTables>(trx)
    .selectFrom('webhook_deliveries')
    .select(['id', 'endpoint_id', 'status', 'created_at'])
    .where('created_at', '<', time)
    .where('due_at', 'is', null)
    .orderBy('created_at')
    .limit(limit)
    .$if(engineOf(trx) === 'postgres', (query) => query.forUpdate().skipLocked())
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
    order by ${sql.ref(time)} limit ${limit} ${skipping(trx)})`.execute(trx);
  return Number(numAffectedRows ?? 0);
}

/** Counters of quarter hours before `time` that count nothing any more; how many went. */
export async function deleteOldCounters(trx: Db, time: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from webhook_counters
    where (endpoint_id, quarter) in (
      select endpoint_id, quarter from webhook_counters where quarter < ${time}
        and pending = 0 and delivered = 0 and exhausted = 0 and cancelled = 0
      order by quarter limit ${limit} ${skipping(trx)})`.execute(trx);
  return Number(numAffectedRows ?? 0);
}

/** What another sweep holds is its own. */
function skipping(trx: Db) {
  return engineOf(trx) === 'postgres' ? sql`for update skip locked` : sql``;
}
