// The full text of messages in threads (`thread_search`; src/store/full-text has how it is kept). A
// document goes with its message.
import type { Db } from '../store/db.ts';
import { fullTextOf } from '../store/full-text/full-text.ts';
import type { FullTextQuery } from '../store/full-text/query.ts';

const documents = fullTextOf('thread_search', 'message_id');

/** What a message is found by. */
export interface Findable {
  mailboxId: string;
  messageId: string;
  subject: string | null;
  from: readonly (string | null)[];
  text: string | null;
  hasAttachment: boolean;
}

/** In the transaction that puts the messages into their threads. */
export async function insertDocuments(db: Db, messages: readonly Findable[]): Promise<void> {
  const entries = messages.map(({ mailboxId, messageId, subject, from, text, hasAttachment }) => {
    const senders = from.filter((one) => one !== null);
    const document = { subject: subject ?? '', from: senders, text: text ?? '', hasAttachment };
    return { scope: mailboxId, key: messageId, document };
  });
  await documents.index(db, entries);
}

/** The messages of a mailbox that are found, in no order: up to `limit`, where there may be more. */
export function findDocuments(
  db: Db,
  mailboxId: string,
  query: FullTextQuery,
  limit: number,
): Promise<string[]> {
  return documents.find(db, { scope: mailboxId, query }, limit);
}

/** Those of these messages that are found. */
export function matchingDocuments(
  db: Db,
  mailboxId: string,
  query: FullTextQuery,
  messageIds: readonly string[],
): Promise<Set<string>> {
  return documents.matching(db, { scope: mailboxId, query }, messageIds);
}
