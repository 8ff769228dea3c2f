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

/** In the transaction that puts the message into its thread. */
export async function insertDocument(db: Db, message: Findable): Promise<void> {
  const { mailboxId: scope, messageId: key, subject, from, text, hasAttachment } = message;
  const senders = from.filter((one) => one !== null);
  const document = { subject: subject ?? '', from: senders, text: text ?? '', hasAttachment };
  await documents.index(db, [{ scope, key, document }]);
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
