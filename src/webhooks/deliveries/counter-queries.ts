// SQL on `webhook_counters`: deliveries of an endpoint by quarter hour and status. Rows only.
import { sql } from 'kysely';
import { type Db, engineOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { DeliveryStatus, WebhookTables } from '../rows.ts';

const own = ownTables<WebhookTables>();

export const deliveryCounts = own.counter(
  'webhook_counters',
  ['endpoint_id', 'quarter'],
  ['pending', 'delivered', 'exhausted', 'cancelled'],
);

export async function deleteCounters(trx: Db, endpointId: string): Promise<void> {
  await tables<WebhookTables>(trx)
    .deleteFrom('webhook_counters')
    .where('endpoint_id', '=', endpointId)
    .execute();
}

/** Sums of a day, which begins `day` times `dayMs` after `from`. */
export interface DaySums extends Record<DeliveryStatus, number> {
  day: number;
}

/** Consecutive days of equal length: from `from` to before `to`. */
export interface Days {
  from: number;
  to: number;
  dayMs: number;
}

/** Returns sums of days of equal length; days without deliveries are left out. */
export async function sumDays(
  db: Db,
  endpointId: string,
  { from, to, dayMs }: Days,
): Promise<DaySums[]> {
  // SQLite binds numbers as reals and would return a fraction; the cast truncates the quotient.
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

/** Sums the counters of an endpoint over all quarter hours; zeros without counters. */
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
