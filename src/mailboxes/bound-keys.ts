// Keys that reach single mailboxes: which of them the key of a namespace reaches, and what the list of
// mailboxes shows to either kind. All else is refused before: src/keys/constraints.ts.
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { beyondMailboxes } from '../keys/constraints.ts';
import * as queries from './queries.ts';

/**
 * For a key of a namespace: lets it go on to a mailbox of that, or to the list (`id` undefined).
 * @throws ForbiddenError, for a mailbox that is not there as well.
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

/** What a list shows to this key. */
export function reachOf(app: App, { constraints }: Caller) {
  const { mailboxIds, namespaceId } = constraints ?? {};
  return mailboxIds || namespaceId
    ? queries.notDeletedOf(app.store.db, { mailboxIds, namespaceId })
    : queries.notDeleted;
}
