// Deleting a conversation: its messages stay, and belong to none any more. Stands here, as conversations know
// no messages.
import type { Deleted } from '../api/resource-schema.ts';
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import {
  conversations,
  countLost,
  deleteConversationRow,
  holdConversations,
} from '../conversations/queries.ts';
import { requestErasure } from '../erasures/request.ts';
import { record } from '../events/record.ts';
import { fromJson } from '../store/db.ts';
import { releaseMessages } from './conversation-queries.ts';

/** So many messages a transaction: sends go on between. */
const messagesPerTransaction = 500;

/**
 * Deletes a conversation for good. Until the last transaction it is there, so that a deletion that was cut
 * off is done by asking again; what comes to it meanwhile is taken out of it too.
 * @throws ResourceNotFoundError.
 */
export async function deleteConversation(app: App, caller: Caller, id: string): Promise<Deleted> {
  const { organizationId } = caller;
  let isGone = false;
  while (!isGone) {
    isGone = await app.store.write(async (trx) => {
      await conversations.get(trx, organizationId, id);
      // Messages are held before their conversation (docs/store.md, "Order of locks").
      const released = await releaseMessages(trx, organizationId, id, messagesPerTransaction);
      if (released > 0) {
        await countLost(trx, id, released);
        return false;
      }
      await holdConversations(trx, [id]);
      const row = await conversations.get(trx, organizationId, id);
      if (row.message_count > 0) return false;
      await deleteConversationRow(trx, row, fromJson<string[]>(row.tags) ?? []);
      await requestErasure(app, trx, { organizationId, id, kind: 'resource' });
      await record(app, trx, caller, { subject: id, action: 'conversation.deleted' });
      return true;
    });
  }
  return { success: true, message: `Conversation ${id} is deleted` };
}
