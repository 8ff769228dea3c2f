// All SQL on `webhook_endpoints` and `webhook_changes`. Rows only, no decisions.
//
// Locks on PostgreSQL are taken in this order, each kind by id: endpoints, deliveries, counters. Enqueueing
// and settling share the lock of an endpoint, so neither waits for the other. Both wait for its deletion.
import { changeCounter } from '../platform/store/change-counter.ts';
import {
  change,
  type Db,
  engineOf,
  idList,
  isOneOf,
  statement,
  tables,
} from '../platform/store/db.ts';
import { rowsOf } from '../platform/store/rows.ts';
import type { EndpointRow, WebhookTables } from './rows.ts';

export const endpoints = rowsOf<EndpointRow>('webhook_endpoints', 'webhook');

/**
 * Counter of changes. Call `note` before the transaction records an event: endpoints that it reads afterwards
 * are then not cached, as the change may never be committed.
 */
export const endpointChanges = changeCounter<WebhookTables>('webhook_changes');

type Subscription = Pick<EndpointRow, 'id' | 'events'>;

const active = statement<WebhookTables, { organizationId: string }, Subscription>((db, parameter) =>
  db
    .selectFrom('webhook_endpoints')
    .select(['id', 'events'])
    .where('organization_id', '=', parameter('organizationId'))
    .where('status', '=', 'active'),
);

/** Returns the active endpoints of an organization, unordered. */
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
  return engineOf(db) === 'postgres' ? rows.forKeyShare() : rows;
});

/**
 * Returns the active endpoints among these; on PostgreSQL they cannot be deleted until the transaction ends.
 * If one is disabled meanwhile, `cancel_before` cancels the deliveries queued for it.
 */
export async function holdActive(trx: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await activeOnes(trx, { ids: idList(trx, ids) });
  return new Set(rows.map(({ id }) => id));
}

const endpointsById = statement<WebhookTables, { ids: unknown }, EndpointRow>((db, parameter) =>
  db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where(isOneOf(db, 'id', parameter('ids'))),
);

export async function findEndpoints(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, EndpointRow>> {
  const rows = await endpointsById(db, { ids: idList(db, ids) });
  return new Map(rows.map((row) => [row.id, row]));
}

/** Locks endpoints until the transaction ends, but not against `holdActive`. */
export async function lockEndpoints(
  trx: Db,
  ids: readonly string[],
): Promise<Map<string, EndpointRow>> {
  if (engineOf(trx) === 'sqlite') return findEndpoints(trx, ids);
  const rows = await tables<WebhookTables>(trx)
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where(isOneOf(trx, 'id', idList(trx, ids)))
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

const failingSince = change<WebhookTables, { id: string; since: number | null }>((db, parameter) =>
  db
    .updateTable('webhook_endpoints')
    .set({ failing_since: parameter('since') })
    .where('id', '=', parameter('id')),
);

export async function setFailingSince(trx: Db, id: string, since: number | null): Promise<void> {
  await failingSince(trx, { id, since });
}
