// SQL on the conversations to which messages belong.
import { type Db, isOneOf, tables } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';
import { lockMessages, type MessageRow } from '../queries.ts';

type PartRow = Pick<MessageRow, 'id' | 'organization_id' | 'conversation_id'>;

interface MessageTables {
  messages: PartRow;
}

const own = ownTables<MessageTables>();

/** Selects from these messages the messages that belong to a conversation. */
export const findConversationParts = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('messages')
    .select(['id', 'organization_id', 'conversation_id'])
    .where('id', ...isOneOf(db, ids))
    .where('conversation_id', 'is not', null),
);

/**
 * Takes up to `most` messages out of a conversation that is being deleted. Returns their number.
 */
export async function releaseMessages(
  trx: Db,
  organizationId: string,
  conversationId: string,
  most: number,
): Promise<number> {
  const q = tables<MessageTables>(trx);
  const found = await q
    .selectFrom('messages')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('conversation_id', '=', conversationId)
    .limit(most)
    .execute();
  if (found.length === 0) return 0;
  const ids = found.map(({ id }) => id);
  await lockMessages(trx, ids);
  const released = await q
    .updateTable('messages')
    .set({ conversation_id: null })
    .where('id', ...isOneOf(trx, ids))
    // Tests the conversation again: a message may have left it before it was locked.
    .where('conversation_id', '=', conversationId)
    .returning('id')
    .execute();
  return released.length;
}
