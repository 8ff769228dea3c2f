// Checks of keys limited to a namespace; the mailboxes, and the events of mailboxes, that lists and
// streams show to keys with limits. src/access/keys/constraints.ts has refused everything else
// before.

import { beyondMailboxes, isBound } from '../../access/keys/constraints.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { Reach } from '../../history/events/log-reader.ts';
import { idPattern } from '../../platform/runtime/ids.ts';
import type { Db } from '../../platform/store/db.ts';
import * as queries from './queries.ts';

/**
 * Checks that the mailbox belongs to the namespace of the key; `id` is undefined for the list.
 * @throws ForbiddenError, also for a mailbox that does not exist.
 */
export async function beyondNamespace(
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

/** Returns the mailboxes that a list shows to this key. */
export function reachOf(app: App, { constraints }: Caller) {
  const { mailboxIds, namespaceId } = constraints ?? {};
  return mailboxIds || namespaceId
    ? queries.notDeletedOf(app.store.db, { mailboxIds, namespaceId })
    : queries.notDeleted;
}

/**
 * Returns the test by which the log of events is cut to the mailboxes of this key; undefined for a
 * key that is not bound. A mailbox that joins the namespace later is reached too.
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
