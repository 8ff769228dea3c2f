// What threads do for rooms below them (`ThreadHooks` in app.ts), which know no threads.
import type { ThreadHooks } from '../app.ts';
import { lockMailboxes } from '../mailboxes/queries.ts';
import {
  deleteThread,
  deleteThreadMessage,
  findPosition,
  findThread,
  findThreadMessages,
  hasDrafts,
} from './queries.ts';
import { restateThread } from './restate.ts';
import { takeIn } from './take-in.ts';

export const threadHooks: ThreadHooks = {
  takeIn,
  async positionOf(db, messageId) {
    return (await findPosition(db, messageId))?.position ?? null;
  },
  async forget(app, trx, messageId) {
    const [found] = await findThreadMessages(trx, [messageId]);
    if (!found) return;
    const before = await findThread(trx, found.thread_id);
    if (!before) return;
    await lockMailboxes(trx, [before.mailbox_id]);
    // It may have become another's meanwhile.
    const [placed] = await findThreadMessages(trx, [messageId]);
    if (!placed) return;
    await deleteThreadMessage(trx, messageId);
    const thread = await findThread(trx, placed.thread_id);
    if (!thread) return;
    const isLast = thread.message_count <= 1 && !(await hasDrafts(trx, thread.id));
    if (isLast) await deleteThread(trx, thread.id);
    else await restateThread(trx, thread.id, app.clock.now());
  },
};
