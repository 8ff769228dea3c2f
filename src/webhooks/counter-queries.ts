// All SQL on `webhook_counters`: deliveries of an endpoint by quarter hour and status. Rows only.
import { type Kysely, sql } from 'kysely';
import { type Db, engineOf, type ParameterOf, statement, tables } from '../platform/store/db.ts';
import type { CounterRow, DeliveryStatus, WebhookTables } from './rows.ts';

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

/** Sums of one day, which begins `day` times `dayMs` after `from`. */
export interface DaySums extends Record<DeliveryStatus, number> {
  day: number;
}

/** Days of equal length, one after another: from `from` to before `to`. */
export interface Days {
  from: number;
  to: number;
  dayMs: number;
}

/** Returns sums of days of one length; days without deliveries are left out. */
export async function sumDays(
  db: Db,
  endpointId: string,
  { from, to, dayMs }: Days,
): Promise<DaySums[]> {
  // SQLite binds numbers as reals and divides them so; the cast truncates the quotient.
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

/** Sums all quarter hours; zeros if there are none. */
export async function sumCounters(
  db: Db,
  endpointId: string,
): Promise<Record<DeliveryStatus, number>> {
  const sum = (column: DeliveryStatus) =>
    sql<number>`cast(coalesce(sum(${sql.ref(column)}), 0) as bigint)`.as(column);
  return tables<WebhookTables>(db)
    .selectFrom('webhook_counters')
    .select([sum('pending'), sum('delivered'), sum('exhausted'), sum('cancelled')])
    .where('endpoint_id', '=', endpointId)
    .executeTakeFirstOrThrow();
}
