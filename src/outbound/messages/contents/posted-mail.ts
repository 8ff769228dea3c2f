// Received mail in the form that webhooks post: the text, the verdicts and the names of files. Read
// from the message at each post, so that the text of a mail is stored only once.
import type { App } from '../../../core/app.ts';
import type { ReceivedEmail } from '../../../identity/mailboxes/schema.ts';
import { fromJson } from '../../../platform/store/db.ts';
import { findMessageRows } from '../queries.ts';
import { attachmentsOf, type InboundEnvelope } from './projection.ts';
import { findBriefs, findFoundTextStarts } from './projection-queries.ts';

const mostTextBytes = 65_536;

/** Cuts the text at `mostTextBytes`, and never within a character of several bytes. */
function cutText(text: string | null): Pick<ReceivedEmail, 'text' | 'textTruncated'> {
  const bytes = Buffer.from(text ?? '');
  if (bytes.length <= mostTextBytes) return { text, textTruncated: false };
  let end = mostTextBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { text: bytes.toString('utf8', 0, end), textTruncated: true };
}

/**
 * Returns the received mail of these messages of the organization, by id. Leaves out deleted
 * messages. The text of a mail without content is null.
 */
export async function readPostedMails(
  { store: { db } }: App,
  organizationId: string,
  messageIds: readonly string[],
): Promise<Map<string, ReceivedEmail>> {
  const rows = await findMessageRows(db, messageIds);
  const texts = await findFoundTextStarts(db, messageIds, mostTextBytes + 1);
  const briefs = await findBriefs(db, messageIds, 0);
  const own = rows.filter(({ organization_id }) => organization_id === organizationId);
  return new Map(
    own.map(({ id, inbound_envelope }) => {
      const envelope = fromJson<InboundEnvelope>(inbound_envelope);
      const files = attachmentsOf(briefs.get(id) ?? { attachments: null });
      return [
        id,
        {
          ...cutText(texts.get(id) ?? null),
          spfVerdict: envelope?.spfVerdict ?? null,
          dkimVerdict: envelope?.dkimVerdict ?? null,
          dmarcVerdict: envelope?.dmarcVerdict ?? null,
          arcVerdict: envelope?.arcVerdict ?? null,
          attachments: files.map(({ filename, contentType, size }, index) => {
            return { n: index + 1, filename, contentType, size };
          }),
        },
      ];
    }),
  );
}
