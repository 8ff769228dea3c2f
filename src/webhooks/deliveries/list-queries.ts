// SQL for lists of deliveries and attempts: pages of an endpoint, by status, kind and time. Rows
// only.
//
//   filter           | index                                      | ranges to merge by id
//   -----------------+--------------------------------------------+----------------------
//   (none)           | (endpoint_id, status, id)                  | 4: a range a status
//   status           | (endpoint_id, status, id)                  | 1
//   kinds            | (endpoint_id, event_type, status, id)      | 4 a kind
//   kinds and status | (endpoint_id, event_type, status, id)      | 1 a kind
//   from, to         | bounds on `id`, which begins with the time | as above
import { type RawBuilder, sql } from 'kysely';
import { firstIdAt } from '../../platform/runtime/ids.ts';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { mergedRanges } from '../../platform/store/rows/merged-ranges.ts';
import {
  type AttemptRow,
  type DeliveryRow,
  type DeliveryStatus,
  deliveryStatuses,
  type WebhookTables,
} from '../rows.ts';

const own = ownTables<WebhookTables>();

const deliveries = own.rowsOf('webhook_deliveries', 'webhook-delivery');

export const { idsEnding: deliveryIdsEnding } = deliveries;

export interface DeliveryFilter {
  status?: DeliveryStatus | undefined;
  eventTypes?: readonly string[] | undefined;
  /** Bounds of the creation time, ms since 1970: `from` is included, `to` is not. */
  from?: number | undefined;
  to?: number | undefined;
}

/** Returns selects over ranges of an index, each in the order of ids. */
function rangesOf(
  endpointId: string,
  { status, eventTypes, from, to }: DeliveryFilter,
  columns: RawBuilder<unknown>,
): RawBuilder<unknown>[] {
  const ofTypes = eventTypes?.map((type) => sql`and event_type = ${type}`) ?? [sql``];
  // An id begins with the creation time.
  const firstAt = (ms: number) => firstIdAt('webhookDelivery', Math.max(0, ms));
  const later = from === undefined ? sql`` : sql`and id >= ${firstAt(from)}`;
  const earlier = to === undefined ? sql`` : sql`and id < ${firstAt(to)}`;
  return (status === undefined ? deliveryStatuses : [status]).flatMap((one) =>
    ofTypes.map(
      (ofType) => sql`select ${columns} from webhook_deliveries
        where endpoint_id = ${endpointId} and status = ${one} ${ofType} ${later} ${earlier}`,
    ),
  );
}

/** Returns a page of an endpoint's deliveries, newest first. */
export async function pageDeliveries(
  db: Db,
  endpointId: string,
  filter: DeliveryFilter,
  { page, limit }: { page: number; limit: number },
): Promise<DeliveryRow[]> {
  const ranges = rangesOf(endpointId, filter, sql`*`);
  const range = { limit, offset: (page - 1) * limit };
  const { rows } =
    await sql<DeliveryRow>`${mergedRanges(db, ranges, sql`order by id desc`, range)}`.execute(db);
  return rows;
}

/** Counts the matching deliveries by reading only an index. */
export async function countDeliveries(
  db: Db,
  endpointId: string,
  filter: DeliveryFilter,
): Promise<number> {
  const ranges = rangesOf(endpointId, filter, sql`count(*) as n`);
  const { rows } = await sql<{ n: number }>`
    select cast(sum(n) as bigint) as n from (${sql.join(ranges, sql` union all `)}) as counted`.execute(
    db,
  );
  return Number(rows[0]?.n ?? 0);
}

/** Returns a delivery of this endpoint; null for a delivery of a different endpoint. */
export async function findDelivery(
  db: Db,
  organizationId: string,
  endpointId: string,
  id: string,
): Promise<DeliveryRow | null> {
  const row = await deliveries.find(db, organizationId, id);
  return row?.endpoint_id === endpointId ? row : null;
}

/**
 * Returns deliveries in a status, made from `since` to before `until`, after id `after`, oldest
 * first.
 */
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
    .where('status', '=', status)
    .where('id', '>', after === '' ? firstIdAt('webhookDelivery', since) : after)
    .where('created_at', '>=', since)
    .where('created_at', '<', until)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Returns the attempts of a delivery, oldest first. */
export function selectAttempts(db: Db, deliveryId: string, limit: number): Promise<AttemptRow[]> {
  return tables<WebhookTables>(db)
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('delivery_id', '=', deliveryId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Returns the latest attempt of each delivery. Deliveries without attempts are left out. */
export async function selectLatestAttempts(
  db: Db,
  deliveryIds: readonly string[],
): Promise<AttemptRow[]> {
  if (deliveryIds.length === 0) return [];
  const latest = tables<WebhookTables>(db)
    .selectFrom('webhook_attempts')
    .select(({ fn }) => fn.max('id').as('id'))
    .where('delivery_id', ...isOneOf(db, deliveryIds))
    .groupBy('delivery_id');
  return tables<WebhookTables>(db)
    .selectFrom('webhook_attempts')
    .selectAll()
    .where('id', 'in', latest)
    .execute();
}
