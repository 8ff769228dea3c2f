// Finds mail that reached nobody, for resources that wait for the answer to a mail of the service.
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
