// Full-text search of threads (`q`). Matches of rare words are all found and sorted. For frequent
// words the list is walked until a page is full. This bounds the cost of a page:
//
//   messages found | way                                                     | a page may be short
//   ---------------+---------------------------------------------------------+--------------------
//   below 1,000    | reads them all, and sorts their threads like the list   | no
//   1,000 or more  | walks the list, and checks 200 threads at a time        | after 5,000 threads
import type { CursorPosition } from '../../core/api/cursor.ts';
import type { FullTextQuery } from '../../platform/full-text/query.ts';
import type { Db } from '../../platform/store/db.ts';
import { listedFolders } from './folders.ts';
import {
  hitsAmong,
  type ListedThread,
  listThreadIds,
  messagesOfThreads,
  type ThreadFilter,
} from './list-queries.ts';
import { findDocuments, matchingDocuments } from './search-queries.ts';

const mostSorted = 1_000;
const atOnce = 200;
const mostWalked = 5_000;

/** A page of threads. `next` is the cursor position after the page, null at the end. */
export interface FoundThreads {
  shown: ListedThread[];
  next: CursorPosition | null;
}

function isBehind(one: CursorPosition, place: CursorPosition): boolean {
  return one.at === place.at ? one.id < place.id : one.at < place.at;
}

/** Cuts a page of `limit` rows. A row beyond the limit means that a next page exists. */
export function pageOfListed(listed: readonly ListedThread[], limit: number): FoundThreads {
  const shown = listed.slice(0, limit);
  return { shown, next: listed.length > limit ? (shown.at(-1) ?? null) : null };
}

async function sorted(
  db: Db,
  filter: ThreadFilter,
  messageIds: readonly string[],
  place: CursorPosition | null,
  limit: number,
): Promise<FoundThreads> {
  const byId = new Map((await hitsAmong(db, filter, messageIds)).map((hit) => [hit.id, hit]));
  const behind = [...byId.values()]
    .filter((hit) => place === null || isBehind(hit, place))
    .sort((a, b) => (isBehind(a, b) ? 1 : -1));
  return pageOfListed(behind, limit);
}

/** Returns the listed threads in which a single message matches the whole query. */
async function matching(
  db: Db,
  { mailboxId }: ThreadFilter,
  query: FullTextQuery,
  listed: readonly ListedThread[],
): Promise<ListedThread[]> {
  const messages = await messagesOfThreads(
    db,
    listed.map(({ id }) => id),
  );
  const ids = messages.map(({ message_id }) => message_id);
  const found = await matchingDocuments(db, mailboxId, query, ids);
  const threadIds = new Set(
    messages.flatMap(({ message_id, thread_id }) => (found.has(message_id) ? thread_id : [])),
  );
  return listed.filter(({ id }) => threadIds.has(id));
}

async function walked(
  db: Db,
  filter: ThreadFilter,
  query: FullTextQuery,
  from: CursorPosition | null,
  limit: number,
): Promise<FoundThreads> {
  const found: ListedThread[] = [];
  let place = from;
  for (let looked = 0; looked < mostWalked; looked += atOnce) {
    const listed = await listThreadIds(db, filter, place, atOnce);
    found.push(...(await matching(db, filter, query, listed)));
    place = listed.at(-1) ?? place;
    if (found.length > limit || listed.length < atOnce) return pageOfListed(found, limit);
  }
  return { shown: found, next: place };
}

/** Returns a page of threads in which a single message matches the whole query. */
export async function searchThreads(
  db: Db,
  filter: ThreadFilter,
  query: FullTextQuery,
  place: CursorPosition | null,
  limit: number,
): Promise<FoundThreads> {
  const ids = await findDocuments(db, filter.mailboxId, query, mostSorted);
  return ids.length < mostSorted
    ? sorted(db, filter, ids, place, limit)
    : walked(db, filter, query, place, limit);
}

/** Most matching messages per mailbox that a search over several mailboxes reads. */
const mostOfMailbox = 200;

/**
 * Returns threads of these mailboxes, outside of spam and trash, most recent activity first. Reads
 * at most 200 matching messages of each mailbox, in arbitrary order.
 */
export async function searchMailboxes(
  db: Db,
  mailboxIds: readonly string[],
  query: FullTextQuery,
  { now, limit }: { now: number; limit: number },
): Promise<ListedThread[]> {
  const found = new Map<string, ListedThread>();
  for (const mailboxId of mailboxIds) {
    const ids = await findDocuments(db, mailboxId, query, mostOfMailbox);
    const filter = { mailboxId, folders: listedFolders, now };
    for (const hit of await hitsAmong(db, filter, ids)) found.set(hit.id, hit);
  }
  return [...found.values()].sort((a, b) => (isBehind(a, b) ? 1 : -1)).slice(0, limit);
}
