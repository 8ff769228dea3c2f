// Checks of keys limited to a namespace, and the mailboxes that the list shows to keys with limits.
// src/access/keys/constraints.ts has refused everything else before.

import { beyondMailboxes } from '../../access/keys/constraints.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
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

/** Returns the mailboxes that a list shows to this key. */
export function reachOf(app: App, { constraints }: Caller) {
  const { mailboxIds, namespaceId } = constraints ?? {};
  return mailboxIds || namespaceId
    ? queries.notDeletedOf(app.store.db, { mailboxIds, namespaceId })
    : queries.notDeleted;
}
