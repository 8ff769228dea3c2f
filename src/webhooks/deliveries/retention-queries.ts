// SQL that deletes old rows of webhooks, some at a time. Rows only.
import { sql } from 'kysely';
import { type Db, engineOf, tables } from '../../platform/store/db.ts';
import type { DeliveryRow, WebhookTables } from '../rows.ts';

type OldDelivery = Pick<DeliveryRow, 'id' | 'endpoint_id' | 'status' | 'created_at'>;

/**
 * Returns the oldest ended deliveries made before `time`; locked rows wait for the next
 * sweep.
 */
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

/**
 * Deletes attempts older than `time`, even if the delivery is younger or deleted. Returns the
 * number.
 */
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

/** Deletes empty counters of quarter hours before `time`; returns the number. */
export async function deleteOldCounters(trx: Db, time: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`delete from webhook_counters
    where (endpoint_id, quarter) in (
      select endpoint_id, quarter from webhook_counters where quarter < ${time}
        and pending = 0 and delivered = 0 and exhausted = 0 and cancelled = 0
      order by quarter limit ${limit} ${skipping(trx)})`.execute(trx);
  return Number(numAffectedRows ?? 0);
}

/** Returns the clause that skips rows locked by a concurrent sweep; empty on SQLite. */
function skipping(trx: Db) {
  return engineOf(trx) === 'postgres' ? sql`for update skip locked` : sql``;
}
