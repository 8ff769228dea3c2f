// All SQL on `webhook_endpoints` and `webhook_changes`. Rows only, no decisions.
//
// Locks on PostgreSQL are taken in this order, each kind by id: endpoints, deliveries, counters.
// Enqueueing and settling share the lock of an endpoint, so neither waits for the other. Both wait
// for the deletion.
import { type SqlBool, sql } from 'kysely';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { EndpointRow, WebhookTables } from '../rows.ts';

const own = ownTables<WebhookTables>();

/** Reads rows by id or by page, including the endpoints of installations. */
export const endpoints = own.rowsOf('webhook_endpoints', 'webhook');

/** Filter for endpoints that belong to no installation. */
export const madeByHand = { where: sql<SqlBool>`installation_id is null` };

/**
 * Counter of changes. Call `note` before the transaction records an event: endpoints that it reads
 * afterwards are then not cached, as the change may never be committed.
 */
export const endpointChanges = own.changeCounter('webhook_changes');

/** Returns the active endpoints of an organization, unordered. */
export const findActiveEndpoints = own.all((db, organizationId: string) =>
  db
    .selectFrom('webhook_endpoints')
    .select(['id', 'events', 'installation_id', 'reach', 'permissions'])
    .where('organization_id', '=', organizationId)
    .where('status', '=', 'active'),
);

/**
 * Returns the ids of the active endpoints among `ids`. On PostgreSQL the endpoints cannot be
 * deleted until the transaction ends. If an endpoint is disabled meanwhile, `cancel_before` cancels
 * the queued deliveries.
 */
export const holdActive = own.all(
  (db, ids: readonly string[]) => {
    const rows = db
      .selectFrom('webhook_endpoints')
      .select('id')
      .where('id', ...isOneOf(db, ids))
      .where('status', '=', 'active')
      .orderBy('id');
    return engineOf(db) === 'postgres' ? rows.forKeyShare() : rows;
  },
  (rows) => new Set(rows.map(({ id }) => id)),
);

export const findEndpoints = own.all(
  (db, ids: readonly string[]) =>
    db
      .selectFrom('webhook_endpoints')
      .selectAll()
      .where('id', ...isOneOf(db, ids)),
  (rows) => new Map(rows.map((row) => [row.id, row])),
);

/**
 * Locks endpoints until the transaction ends, and returns them by id. `holdActive` does not wait
 * for this lock.
 */
export async function lockEndpoints(
  trx: Db,
  ids: readonly string[],
): Promise<Map<string, EndpointRow>> {
  if (engineOf(trx) === 'sqlite') return findEndpoints(trx, ids);
  const rows = await tables<WebhookTables>(trx)
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', ...isOneOf(trx, ids))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

export async function setEndpoint(
  trx: Db,
  id: string,
  values: Partial<Omit<EndpointRow, 'id' | 'organization_id'>>,
): Promise<void> {
  await tables<WebhookTables>(trx)
    .updateTable('webhook_endpoints')
    .set(values)
    .where('id', '=', id)
    .execute();
}

export const setFailingSince = own.run((db, id: string, since: number | null) =>
  db.updateTable('webhook_endpoints').set({ failing_since: since }).where('id', '=', id),
);

/** Counts the active endpoints of all organizations, and the failing endpoints among them. */
export const countEndpoints = own.first(
  (db) =>
    db
      .selectFrom('webhook_endpoints')
      .select(({ fn }) => [
        fn.countAll<number>().as('active'),
        fn.count<number>('failing_since').as('failing'),
      ])
      .where('status', '=', 'active'),
  (row) => ({ active: Number(row?.active ?? 0), failing: Number(row?.failing ?? 0) }),
);
