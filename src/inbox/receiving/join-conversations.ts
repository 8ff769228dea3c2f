// Assigns replies to conversations. A received mail joins the conversation of the message of ours
// that it names in In-Reply-To or References, before the mail is answered with 250. Our Message-ID
// contains the id of the message, unless a relay replaced it.
import type { App } from '../../core/app.ts';
import { findConversationParts } from '../../outbound/messages/forget/conversation-queries.ts';
import { furtherIdsIn, namedMessage } from '../../outbound/messages/own-message-id.ts';
import { arrivalsOf, countArrivals } from '../../people/conversations/arrivals.ts';
import { holdConversations } from '../../people/conversations/queries.ts';
import type { Db } from '../../platform/store/db.ts';
import type { InboundCopy } from './inbound-copy.ts';

/**
 * Returns the copies, with the conversation of each reply. All copies share the queries. Runs no
 * query if no mail names a message.
 */
export async function withConversations(
  trx: Db,
  copies: readonly InboundCopy[],
): Promise<readonly InboundCopy[]> {
  const headers = copies.flatMap(({ answers }) => answers);
  if (headers.length === 0) return copies;
  const own = copies.map(({ message }) => message.message_id_header);
  const further = await furtherIdsIn(trx, [...headers, ...own]);
  const nameOf = (header: string) => namedMessage(header, further);
  const asked = [...headers, ...own].flatMap((header) => nameOf(header) ?? []);
  if (asked.length === 0) return copies;
  const parts = await findConversationParts(trx, [...new Set(asked)]);
  const named = parts.flatMap(({ conversation_id }) => conversation_id ?? []);
  if (named.length === 0) return copies;
  // Locks the conversations, so that they exist until the transaction ends.
  const held = new Set(
    (await holdConversations(trx, [...new Set(named)].sort())).map(({ id }) => id),
  );
  const partOf = new Map(
    parts.flatMap((part) => (held.has(part.conversation_id ?? '') ? [[part.id, part]] : [])),
  );
  return copies.map((copy) => {
    const conversationOf = (header: string) => {
      const part = partOf.get(nameOf(header) ?? '');
      return part?.organization_id === copy.message.organization_id ? part.conversation_id : null;
    };
    const id = copy.answers.map(conversationOf).find((one) => one !== null) ?? null;
    // Mail that we sent into the conversation was counted at the send, even if a mailbox of this
    // organization receives it.
    const isOurs = id !== null && conversationOf(copy.message.message_id_header) === id;
    return isOurs ? copy : { ...copy, message: { ...copy.message, conversation_id: id } };
  });
}

/** Counts the copies that belong to conversations. */
export function countAnswers(app: App, trx: Db, copies: readonly InboundCopy[]): Promise<void> {
  const arrivals = copies.flatMap(({ message, isAutoReply }) =>
    arrivalsOf(message, {
      isHuman: !isAutoReply,
      contactIds: [],
      addresses: [message.from_email],
    }),
  );
  return countArrivals(app, trx, arrivals);
}
