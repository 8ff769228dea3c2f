// Takes threads away for good: by hand from `trash`, and those of mailboxes that were deleted a while ago.
import type { App } from '../app.ts';
import { lockDeliveriesOf } from '../deliveries/queries.ts';
import { removeMessage } from '../messages/messages.ts';
import { lockMessages } from '../messages/queries.ts';
import type { Db } from '../store/db.ts';
import { deleteThread, messageIdsOf } from './queries.ts';

/** Holds the messages of a thread, which go before their mailbox in the order of locks. */
export async function holdMessages(trx: Db, threadId: string): Promise<void> {
  const ids = await messageIdsOf(trx, [threadId]);
  await lockDeliveriesOf(trx, ids);
  await lockMessages(trx, ids);
}

/**
 * A thread with its messages and their blobs; returns how many messages that were. The caller holds the
 * messages, and then the mailbox.
 */
export async function removeThread(app: App, trx: Db, id: string): Promise<number> {
  const ids = await messageIdsOf(trx, [id]);
  for (const messageId of ids) await removeMessage(app, trx, messageId);
  // With its last message it went already, unless a draft belongs to it.
  await deleteThread(trx, id);
  return ids.length;
}
