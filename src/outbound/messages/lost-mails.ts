// Mails that the service itself wrote and that reached nobody. Resources that wait for an answer to
// such a mail need them.
import type { Db } from '../../platform/store/db.ts';
import type { MessageStatus } from '../deliveries/status.ts';
import { findMessageStatuses } from './queries.ts';

const lost: ReadonlySet<MessageStatus> = new Set<MessageStatus>(['failed', 'bounced']);

/** Selects the messages that reached nobody from these messages. */
export async function findLostMails(db: Db, messageIds: readonly string[]): Promise<Set<string>> {
  if (messageIds.length === 0) return new Set();
  const found = await findMessageStatuses(db, messageIds);
  return new Set(found.filter(({ status }) => lost.has(status)).map(({ id }) => id));
}
