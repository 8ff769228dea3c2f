// The full text of messages in threads (`thread_search`; src/platform/full-text defines the
// storage), and the messages that wait for indexing (`thread_search_waiting`). Both rows are
// deleted with their message.

import type { DocumentWords } from '../../platform/full-text/document.ts';
import { fullTextOf } from '../../platform/full-text/full-text.ts';
import type { FullTextQuery } from '../../platform/full-text/query.ts';
import { type Db, isOneOf } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

/** A message with the words to index. */
export interface Findable {
  mailboxId: string;
  messageId: string;
  words: DocumentWords;
}

/** Adds messages to the full-text index of their mailboxes. */
export async function insertDocuments(db: Db, messages: readonly Findable[]): Promise<void> {
  const entries = messages.map(({ mailboxId, messageId, words }) => {
    return { scope: mailboxId, key: messageId, words };
  });
  await documents.index(db, entries);
}

/** A message that waits for indexing. */
export class WaitingRow {
  message_id!: string;
  mailbox_id!: string;
}

interface SearchTables {
  thread_search: { message_id: string };
  thread_search_waiting: WaitingRow;
}

const own = ownTables<SearchTables>();
const documents = fullTextOf(own.column('thread_search', 'message_id'));

export const insertWaiting = own.bulkInsert('thread_search_waiting', WaitingRow);

/** Returns the oldest messages that wait for indexing. */
export const selectWaiting = own.all((db, limit: number) =>
  db.selectFrom('thread_search_waiting').selectAll().orderBy('message_id').limit(limit),
);

const lockWaiting = own.lockerOf('thread_search_waiting', { id: 'message_id' });

const removeWaiting = own.all((db, ids: readonly string[]) =>
  db
    .deleteFrom('thread_search_waiting')
    .where('message_id', ...isOneOf(db, ids))
    .returningAll(),
);

/**
 * Removes these messages from the waiting list. Returns the messages that still waited; the same
 * transaction must index them.
 */
export async function takeWaiting(db: Db, ids: readonly string[]): Promise<WaitingRow[]> {
  await lockWaiting(db, ids);
  return removeWaiting(db, ids);
}

/** Removes messages from the index and from the waiting list. */
export async function removeDocuments(db: Db, messageIds: readonly string[]): Promise<void> {
  await takeWaiting(db, messageIds);
  await documents.remove(db, messageIds);
}

/**
 * Rewrites a part of the index without the words of deleted documents. Returns true once no such
 * words are left. The first call (`isBegun` false) starts the merge. SQLite only.
 */
export function mergeWords(trx: Db, isBegun: boolean): Promise<boolean> {
  return documents.merge(trx, isBegun);
}

/** Returns the ids of up to `limit` matching messages of a mailbox, in no order. */
export function findDocuments(
  db: Db,
  mailboxId: string,
  query: FullTextQuery,
  limit: number,
): Promise<string[]> {
  return documents.find(db, { scope: mailboxId, query }, limit);
}

/** Returns the ids among `messageIds` of the messages that match the query. */
export function matchingDocuments(
  db: Db,
  mailboxId: string,
  query: FullTextQuery,
  messageIds: readonly string[],
): Promise<Set<string>> {
  return documents.matching(db, { scope: mailboxId, query }, messageIds);
}
