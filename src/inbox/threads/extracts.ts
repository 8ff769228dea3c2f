// The codes and links of a message in a mailbox, found as by `svc messages expect`.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { Extracts } from '../../mail/mime/extracts/extracts.ts';
import { readContent } from '../../outbound/messages/contents/merge.ts';
import { readProjection } from '../../outbound/messages/contents/projection.ts';
import { getMailboxMessage } from './attachments.ts';

/**
 * Finds the codes and links of a message, in the parse worker.
 * @throws ResourceNotFoundError (mailbox, message); CapacityError if the parse worker is full.
 */
export async function readExtracts(
  app: App,
  { organizationId }: Caller,
  { id, messageId }: { id: string; messageId: string },
): Promise<Extracts> {
  const row = await getMailboxMessage(app, organizationId, id, messageId);
  const found =
    row.content_id === null ? await readProjection(app, row) : await readContent(app, row);
  const { text = null, html = null } = found ?? {};
  return app.mime.readExtracts({ subject: row.subject, text, html }, organizationId);
}
