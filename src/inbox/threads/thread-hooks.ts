// Implements `ThreadHooks`: src/outbound/messages changes threads through these hooks, and imports
// nothing of this directory.

import type { Hooks } from '../../core/app.ts';
import { lockMailboxes } from '../../identity/mailboxes/queries.ts';
import type { ThreadHooks } from '../../outbound/messages/hooks.ts';
import { findMessageRow } from '../../outbound/messages/queries.ts';
import { wordsOfDocument } from '../../platform/full-text/document.ts';
import { forgetPostedMail } from '../../webhooks/deliveries/erase.ts';
import { deleteDelayed } from './drafts/delayed-queries.ts';
import { deleteAnswering } from './drafts/draft-queries.ts';
import { placeArrived } from './placing/take-in.ts';
import {
  deleteThread,
  deleteThreadMessage,
  findPlaced,
  findPosition,
  findThread,
  findThreadMessages,
  hasDrafts,
} from './queries.ts';
import { firstSubject, restateThread } from './restate.ts';
import { insertDocuments, removeDocuments } from './search-queries.ts';

/** Maps message ids to mailbox ids, for the messages that are in a thread. */
export const mailboxesOfMail: Hooks['mailboxesOfMail'] = async (db, messageIds) => {
  const placed = messageIds.length === 0 ? [] : await findPlaced(db, messageIds);
  return new Map(placed.map(({ message_id, mailbox_id }) => [message_id, mailbox_id]));
};

export const threadHooks: ThreadHooks = {
  takeIn: placeArrived,
  async positionOf(db, messageId) {
    return (await findPosition(db, messageId))?.position ?? null;
  },
  async forget(app, trx, messageId) {
    const [found] = await findThreadMessages(trx, [messageId]);
    if (!found) return null;
    const before = await findThread(trx, found.thread_id);
    if (!before) return null;
    await lockMailboxes(trx, [before.mailbox_id]);
    // Reads the thread anew, as it may have been merged meanwhile.
    const [placed] = await findThreadMessages(trx, [messageId]);
    if (!placed) return null;
    await deleteThreadMessage(trx, messageId);
    const { thread_id: threadId, event_id: eventId } = placed;
    const mailboxId = before.mailbox_id;
    const thread = await findThread(trx, threadId);
    if (!thread) return { mailboxId, threadId, isThreadGone: true, eventId };
    await deleteAnswering(trx, threadId, messageId);
    const isThreadGone = thread.message_count <= 1 && !(await hasDrafts(trx, threadId));
    if (isThreadGone) await deleteThread(trx, threadId);
    else {
      const subject = await firstSubject(trx, threadId);
      await restateThread(trx, threadId, app.clock.now(), { subject });
    }
    return { mailboxId, threadId, isThreadGone, eventId };
  },
  async forgetText(app, trx, messageId) {
    await deleteDelayed(trx, messageId);
    const [placed] = await findThreadMessages(trx, [messageId]);
    if (!placed) return;
    if (placed.event_id !== null) await forgetPostedMail(trx, placed.event_id);
    const thread = await findThread(trx, placed.thread_id);
    if (!thread) return;
    await lockMailboxes(trx, [thread.mailbox_id]);
    await removeDocuments(trx, [messageId]);
    const message = await findMessageRow(trx, messageId);
    const from = [message?.from_email, message?.from_name].filter((one) => one != null);
    const document = { subject: message?.subject ?? '', from, text: '', hasAttachment: false };
    const words = wordsOfDocument(document);
    await insertDocuments(trx, [{ mailboxId: thread.mailbox_id, messageId, words }]);
    const subject = await firstSubject(trx, thread.id);
    await restateThread(trx, thread.id, app.clock.now(), { subject });
  },
};
