// Finds messages with text that is hidden from people, but that an agent may read.
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { mostCharacters } from '../../../mail/mime/html/tokens.ts';
import { findMessageRows } from '../queries.ts';
import { findFoundHtmlStarts } from './projection-queries.ts';

const atOnce = 20;

/**
 * Selects from these messages of the caller the messages with hidden text in the HTML.
 * @throws CapacityError if the parse worker is full
 */
export async function hiddenAmong(
  { store, mime }: App,
  caller: Pick<Caller, 'organizationId'> | null,
  messageIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const hidden = new Set<string>();
  if (!caller) return hidden;
  const { organizationId } = caller;
  for (let at = 0; at < messageIds.length; at += atOnce) {
    const some = messageIds.slice(at, at + atOnce);
    const rows = await findMessageRows(store.db, some);
    // Mail may name ids of a different organization: these messages must stay unknown.
    const own = rows.flatMap((row) => (row.organization_id === organizationId ? row.id : []));
    const found = await findFoundHtmlStarts(store.db, own, mostCharacters);
    for (const [id, html] of found) {
      if (await mime.hidesWords(html, organizationId)) hidden.add(id);
    }
  }
  return hidden;
}
