// Filters for keys that are limited to a namespace or to mailboxes: lists and streams show only
// these mailboxes and their events. src/access/keys/constraints.ts refuses all further requests.

import { beyondMailboxes, isBound } from '../../access/keys/constraints.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { Reach } from '../../history/events/log-reader.ts';
import { idPattern } from '../../platform/runtime/ids.ts';
import type { Db } from '../../platform/store/db.ts';
import * as queries from './queries.ts';

/**
 * Requires that a mailbox belongs to the namespace of the key. Without `id`, as for the list of
 * mailboxes, it requires nothing.
 * @throws ForbiddenError, also for a mailbox that does not exist.
 */
export async function requireMailboxOfNamespace(
  { store }: App,
  { organizationId, constraints }: Caller,
  id: string | undefined,
): Promise<void> {
  if (id === undefined) return;
  const row = await queries.mailboxes.find(store.db, organizationId, id);
  if (row?.namespace_id !== constraints?.namespaceId) throw beyondMailboxes();
}

/** Returns the namespace of a mailbox; null for an unknown or deleted mailbox. */
export async function findNamespaceOf(
  db: Db,
  organizationId: string,
  mailboxId: string,
): Promise<string | null> {
  const row = await queries.mailboxes.find(db, organizationId, mailboxId);
  return row?.namespace_id ?? null;
}

/** Returns the SQL condition for the mailboxes that a list shows to this key. */
export function reachOf(app: App, { constraints }: Caller) {
  const { mailboxIds, namespaceId } = constraints ?? {};
  return mailboxIds || namespaceId
    ? queries.notDeletedOf(app.store.db, { mailboxIds, namespaceId })
    : queries.notDeleted;
}

/**
 * Returns the filter of the event log for the mailboxes of this key; undefined for a key that is
 * not bound. Includes mailboxes that join the namespace later.
 */
export function eventReachOf(
  { store }: App,
  { organizationId, constraints }: Caller,
): Reach | undefined {
  if (!isBound(constraints)) return undefined;
  const { mailboxIds, namespaceId = '' } = constraints ?? {};
  return async (subjects) => {
    const ids = subjects.filter((id) => idPattern('mailbox').test(id));
    if (mailboxIds) return new Set(ids.filter((id) => mailboxIds.includes(id)));
    if (ids.length === 0) return new Set();
    return new Set(await queries.selectInNamespace(store.db, organizationId, namespaceId, ids));
  };
}
