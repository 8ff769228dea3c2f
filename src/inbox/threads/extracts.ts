// The codes and links of a message in a mailbox.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { Extracts } from '../../mail/mime/extracts/extracts.ts';
import { extractsOf } from '../../outbound/messages/expecting/extracts.ts';
import { getMailboxMessage } from './attachments.ts';

/**
 * Finds the codes and links of a message in a mailbox.
 * @throws ResourceNotFoundError (mailbox, message); CapacityError if the parse worker is full.
 */
export async function readExtracts(
  app: App,
  { organizationId }: Caller,
  { id, messageId }: { id: string; messageId: string },
): Promise<Extracts> {
  return extractsOf(app, await getMailboxMessage(app, organizationId, id, messageId));
}
