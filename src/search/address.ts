// Explains why mail to an address did or did not arrive: by the contact, the blocks, and the last
// messages to the address, with the status of each copy for the address.
import type { Caller } from '../core/api/route.ts';
import type { App } from '../core/app.ts';
import { listMessageIds } from '../outbound/messages/lists/list-queries.ts';
import { findMessages } from '../outbound/messages/messages.ts';
import type { Message } from '../outbound/messages/schema.ts';
import { presentBlock } from '../people/blocks/blocks.ts';
import { selectBlocks } from '../people/blocks/queries.ts';
import { foldAddress } from '../platform/net/address.ts';
import type { FoundAddress, FoundPerson, MailToAddress } from './schema.ts';

const mostBlocks = 10;
const mostMessages = 5;

/** Parts of the answer that the caller may read. */
export interface MaySee {
  blocks: boolean;
  messages: boolean;
}

/** Presents a message with the status of the copy for this address. */
function copyOf(message: Message, folded: string): MailToAddress {
  const { id, subject, createdAt } = message;
  const recipient = message.recipients.find(({ email }) => foldAddress(email) === folded);
  const delivery = message.deliveries.find(({ recipientId }) => recipientId === recipient?.id);
  const { errorCode = null, errorMessage = null } = delivery ?? {};
  return {
    id,
    subject,
    createdAt,
    status: recipient?.status ?? message.status,
    errorCode,
    errorMessage,
  };
}

async function lastMessages(app: App, { organizationId }: Caller, email: string) {
  const { db } = app.store;
  const filter = { organizationId, recipient: email };
  const ids = await listMessageIds(db, filter, mostMessages, 0);
  const known = await findMessages(db, organizationId, ids);
  return ids.flatMap((id) => {
    const message = known.get(id);
    return message ? copyOf(message, foldAddress(email)) : [];
  });
}

/** Returns contact, blocks and last messages of an address; lists that `may` excludes are empty. */
export async function answerFor(
  app: App,
  caller: Caller,
  { email, contact }: { email: string; contact: FoundPerson | null },
  may: MaySee,
): Promise<FoundAddress> {
  const filter = { foldedAddress: foldAddress(email) };
  const range = { limit: mostBlocks, offset: 0 };
  const { db } = app.store;
  const blocks = may.blocks ? await selectBlocks(db, caller.organizationId, filter, range) : [];
  const messages = may.messages ? await lastMessages(app, caller, email) : [];
  return { email, contact, blocks: blocks.map(presentBlock), messages };
}
