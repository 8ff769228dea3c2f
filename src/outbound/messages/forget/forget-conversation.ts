// Deletes conversations and leaves their messages without a conversation. This file is with the
// messages, because conversations must not depend on messages.

import type { Deleted } from '../../../core/api/resource-schema.ts';
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { requestErasure } from '../../../history/erasures/request.ts';
import { record } from '../../../history/events/record.ts';
import {
  conversations,
  countLost,
  deleteConversationRow,
  holdConversations,
} from '../../../people/conversations/queries.ts';
import { conversationNoun } from '../../../people/conversations/schema.ts';
import { fromJson } from '../../../platform/store/db.ts';
import { forgetKeptResponse } from '../idempotency-queries.ts';
import { releaseMessages } from './conversation-queries.ts';

/** Most messages per transaction, so that sends can commit in between. */
const messagesPerTransaction = 500;

/**
 * Deletes a conversation for good. The conversation exists until the last transaction, so a
 * repeated request completes an interrupted deletion. Messages that join it meanwhile are released
 * too.
 * @throws ResourceNotFoundError.
 */
export async function deleteConversation(app: App, caller: Caller, id: string): Promise<Deleted> {
  const { organizationId } = caller;
  let isGone = false;
  while (!isGone) {
    isGone = await app.store.write(async (trx) => {
      await conversations.get(trx, organizationId, id);
      // Messages are locked before their conversation (docs/making/store.md, "Order of locks").
      const released = await releaseMessages(trx, organizationId, id, messagesPerTransaction);
      if (released > 0) {
        await countLost(trx, id, released);
        return false;
      }
      await holdConversations(trx, [id]);
      const row = await conversations.get(trx, organizationId, id);
      if (row.message_count > 0) return false;
      await deleteConversationRow(trx, row, fromJson<string[]>(row.tags) ?? []);
      await forgetKeptResponse(trx, organizationId, id);
      await requestErasure(app, trx, { organizationId, id, kind: 'resource' });
      await record(app, trx, caller, { subject: id, action: conversationNoun.deleted });
      return true;
    });
  }
  return { success: true, message: `Conversation ${id} is deleted` };
}
