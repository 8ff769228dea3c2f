// Messages that a search finds: by id, by an address, by the beginning of the subject, and by a
// value of the metadata that the organization indexes.
import { findOrganization } from '../access/organizations/queries.ts';
import type { Caller } from '../core/api/route.ts';
import type { App } from '../core/app.ts';
import { newestBySubject } from '../outbound/messages/lists/by-subject.ts';
import { listMessageIds } from '../outbound/messages/lists/list-queries.ts';
import { findMessages } from '../outbound/messages/messages.ts';
import { parseAddress } from '../platform/net/address.ts';
import { idPattern } from '../platform/runtime/ids.ts';
import { type Db, fromJson } from '../platform/store/db.ts';
import type { FoundMessage } from './schema.ts';

/** Fewest characters to search for in subjects: a single letter begins too many subjects. */
const leastSubject = 3;

type Hit = Pick<FoundMessage, 'id' | 'by'>;

/** Returns the ids of up to `most` messages, each with the field that matched. */
export async function idsOfMessages(
  db: Db,
  organizationId: string,
  q: string,
  most: number,
): Promise<Hit[]> {
  if (idPattern('message').test(q)) return [{ id: q, by: 'id' }];
  const found = new Map<string, Hit>();
  const add = (by: string, ids: readonly string[]) => {
    for (const id of ids) if (!found.has(id)) found.set(id, { id, by });
  };
  const organization = await findOrganization(db, organizationId);
  for (const key of fromJson<string[]>(organization?.metadata_keys ?? null) ?? []) {
    const metadata = [[key, q]] as const;
    add(`metadata.${key}`, await listMessageIds(db, { organizationId, metadata }, most, 0));
  }
  const email = parseAddress(q)?.email;
  if (email !== undefined) {
    add('address', await listMessageIds(db, { organizationId, recipient: email }, most, 0));
    add('address', await listMessageIds(db, { organizationId, sender: email }, most, 0));
  }
  if ([...q].length >= leastSubject) {
    add('subject', await newestBySubject(db, organizationId, q, most));
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, most);
}

/** Presents found messages, without messages that were deleted meanwhile. */
export async function findAnyMessages(
  { store }: App,
  { organizationId }: Caller,
  hits: readonly Hit[],
): Promise<FoundMessage[]> {
  const ids = hits.map(({ id }) => id);
  const known = await findMessages(store.db, organizationId, ids);
  return hits.flatMap(({ id, by }) => {
    const message = known.get(id);
    if (!message) return [];
    const { direction, subject, status, createdAt, from, recipients } = message;
    const to = recipients[0]?.email ?? null;
    return { id, direction, subject, status, createdAt, from: from.email, to, by };
  });
}
