// Deletes threads permanently: on request from `trash`, and of mailboxes deleted some time ago.
import type { App } from '../../core/app.ts';
import { lockDeliveriesOf } from '../../outbound/deliveries/queries.ts';
import { removeMessage } from '../../outbound/messages/messages.ts';
import { lockMessages } from '../../outbound/messages/queries.ts';
import type { Db } from '../../platform/store/db.ts';
import { deleteThread, deleteThreadMessage, oldestIdsOf } from './queries.ts';
import { restateThread } from './restate.ts';

/** Most messages that a transaction removes, so that further writes need not wait long. */
const messagesPerTransaction = 500;

/**
 * Locks the oldest messages of a thread and returns their ids. Messages are locked before the
 * mailbox.
 */
export async function holdMessages(trx: Db, threadId: string): Promise<string[]> {
  const ids = await oldestIdsOf(trx, threadId, messagesPerTransaction);
  await lockDeliveriesOf(trx, ids);
  await lockMessages(trx, ids);
  return ids;
}

/**
 * Removes these messages of a thread with their blobs, and then an empty thread. Returns whether
 * the thread is deleted. The caller has locked the messages, then the mailbox.
 */
export async function removeMessages(
  app: App,
  trx: Db,
  id: string,
  ids: readonly string[],
): Promise<boolean> {
  for (const messageId of ids) {
    // Runs before the message is deleted: the deletion would otherwise recompute the thread.
    await deleteThreadMessage(trx, messageId);
    await removeMessage(app, trx, messageId);
  }
  const isGone = (await oldestIdsOf(trx, id, 1)).length === 0;
  if (isGone) await deleteThread(trx, id);
  else await restateThread(trx, id, app.clock.now());
  return isGone;
}
