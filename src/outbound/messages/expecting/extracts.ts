// Text, codes and links of a message, sent, captured or received.
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import type { Extracts } from '../../../mail/mime/extracts/extracts.ts';
import { readContent } from '../contents/merge.ts';
import { readProjection } from '../contents/projection.ts';
import { textAtOnce, withLongText } from '../made-text.ts';
import { getMessageRow } from '../messages.ts';
import type { MessageRow } from '../queries.ts';

/** Text and HTML of a mail; null for a missing part. */
interface MailBody {
  text: string | null;
  html: string | null;
}

async function readBody(app: App, row: MessageRow): Promise<MailBody> {
  const found =
    row.content_id === null ? await readProjection(app, row) : await readContent(app, row);
  const { text = null, html = null } = found ?? {};
  return { text, html };
}

function findExtracts(app: App, row: MessageRow, { text, html }: MailBody): Promise<Extracts> {
  return app.mime.readExtracts({ subject: row.subject, text, html }, row.organization_id);
}

/**
 * Finds the codes and links of a message, in the parse worker.
 * @throws CapacityError if the parse worker is full.
 */
export async function extractsOf(app: App, row: MessageRow): Promise<Extracts> {
  return findExtracts(app, row, await readBody(app, row));
}

/** Finds the codes and links of a message. @throws ResourceNotFoundError, CapacityError */
export async function readMessageExtracts(
  app: App,
  { organizationId }: Caller,
  id: string,
): Promise<Extracts> {
  return extractsOf(app, await getMessageRow(app.store.db, organizationId, id));
}

/**
 * Reads the text of a message, made from the HTML if it has no text, with codes and links.
 * @throws CapacityError if the parse worker is full.
 */
export async function readTextAndExtracts(
  app: App,
  row: MessageRow,
): Promise<Extracts & { text: string | null }> {
  const body = await readBody(app, row);
  const { text } = await withLongText(app, row.organization_id, body);
  const made = body.html === null ? null : textAtOnce(body.html);
  return { text: text ?? made, ...(await findExtracts(app, row, body)) };
}
