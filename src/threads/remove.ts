// Takes threads away for good: by hand from `trash`, and those of mailboxes that were deleted a while ago.
import type { App } from '../app.ts';
import { lockDeliveriesOf } from '../deliveries/queries.ts';
import { removeMessage } from '../messages/messages.ts';
import { lockMessages } from '../messages/queries.ts';
import type { Db } from '../store/db.ts';
import { deleteThread, deleteThreadMessage, oldestIdsOf } from './queries.ts';
import { restateThread } from './restate.ts';

/** Messages of one transaction: other writes go on between. */
const messagesPerTransaction = 500;

/** Holds the oldest messages of a thread, which go before their mailbox in the order of locks; returns their ids. */
export async function holdMessages(trx: Db, threadId: string): Promise<string[]> {
  const ids = await oldestIdsOf(trx, threadId, messagesPerTransaction);
  await lockDeliveriesOf(trx, ids);
  await lockMessages(trx, ids);
  return ids;
}

/**
 * Removes these messages of a thread, with their blobs, and the thread if none is left; returns whether it is
 * gone. The caller holds the messages, and then the mailbox.
 */
export async function removeMessages(
  app: App,
  trx: Db,
  id: string,
  ids: readonly string[],
): Promise<boolean> {
  for (const messageId of ids) {
    // Before its message, which would restate the thread each time.
    await deleteThreadMessage(trx, messageId);
    await removeMessage(app, trx, messageId);
  }
  const isGone = (await oldestIdsOf(trx, id, 1)).length === 0;
  if (isGone) await deleteThread(trx, id);
  else await restateThread(trx, id, app.clock.now());
  return isGone;
}
