// Removes threads for good: on request from `trash`, and threads of mailboxes deleted a while ago.
import type { App } from '../../core/app.ts';
import { lockDeliveriesOf } from '../../outbound/deliveries/queries.ts';
import { removeMessage } from '../../outbound/messages/messages.ts';
import { lockMessages } from '../../outbound/messages/queries.ts';
import type { Db } from '../../platform/store/db.ts';
import { deleteThread, deleteThreadMessage, oldestIdsOf } from './queries.ts';
import { restateThread } from './restate.ts';

/** Messages removed in a transaction, so that other writes run between. */
const messagesPerTransaction = 500;

/**
 * Locks the oldest messages of a thread and returns their ids. Messages come before their mailbox
 * in the order of locks.
 */
export async function holdMessages(trx: Db, threadId: string): Promise<string[]> {
  const ids = await oldestIdsOf(trx, threadId, messagesPerTransaction);
  await lockDeliveriesOf(trx, ids);
  await lockMessages(trx, ids);
  return ids;
}

/**
 * Removes these messages of a thread with their blobs, and the thread once it is empty. Returns
 * whether it is gone. The caller holds the messages, and then the mailbox.
 */
export async function removeMessages(
  app: App,
  trx: Db,
  id: string,
  ids: readonly string[],
): Promise<boolean> {
  for (const messageId of ids) {
    // Runs before the message is deleted, which would otherwise recompute the thread each time.
    await deleteThreadMessage(trx, messageId);
    await removeMessage(app, trx, messageId);
  }
  const isGone = (await oldestIdsOf(trx, id, 1)).length === 0;
  if (isGone) await deleteThread(trx, id);
  else await restateThread(trx, id, app.clock.now());
  return isGone;
}
