// The picture of a mail on which a person decides: everything that would be sent, with notes on
// content of the HTML that the person would not see. Drafts, proposals, the console, the commands
// and MCP show the picture.
import type { App } from '../../core/app.ts';
import { notesOnHtml } from '../../mail/mime/html/notes.ts';
import type { MailPicture } from './schema.ts';

/** The fields of a draft or a proposal that the picture shows. */
export type Pictured = Omit<MailPicture, 'notes'>;

/** Returns the mail with notes on the HTML. @throws CapacityError if the parse worker is full. */
export async function pictureOf<Mail extends Pictured>(
  { mime }: App,
  organizationId: string,
  { from, replyTo, to, cc, bcc, subject, text, html, attachments }: Mail,
): Promise<Pick<Mail, keyof Pictured> & Pick<MailPicture, 'notes'>> {
  const hides = html !== null && (await mime.hidesWords(html, organizationId));
  const notes = [
    ...(hides ? ['The HTML has words that its reader does not see.'] : []),
    ...(html === null ? [] : notesOnHtml(html)),
  ];
  return { from, replyTo, to, cc, bcc, subject, text, html, notes, attachments };
}
