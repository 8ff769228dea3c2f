// Composes messages with attachments: nodemailer's MailComposer builds the MIME tree, the
// parameters of file names (RFC 2231) and the base64. Of the header only Content-Type is used:
// header.ts writes all further fields, because MailComposer allows words above 998 octets.
import type { MailComposerAttachment } from 'nodemailer/lib/mail-composer';
import MailComposer from 'nodemailer/lib/mail-composer';
import { draftHeader, headerBytes } from './headers/header.ts';
import type { ComposeAttachment, Composed, ComposeInput } from './input.ts';
import { ComposeError, checkInput } from './input.ts';
import { htmlType, plainType } from './lean.ts';
import { asSevenBit, boundarySafe, boundaryStart, textPart } from './text.ts';

const endOfHeader = '\r\n\r\n';

/**
 * Prepares an attachment. RFC 2046 5.2.1 forbids encoding message/*, so a message that is not clean
 * 7bit is sent as opaque bytes. A multipart/* attachment is opaque too: it would become a branch of
 * our own tree.
 */
function attachmentOf(attachment: ComposeAttachment, seed: string): MailComposerAttachment {
  const { contentType, contentId, content } = attachment;
  const message = /^message\//i.test(contentType)
    ? asSevenBit(content.toString('latin1'), seed)
    : null;
  const isOpaque = message === null && /^(?:message|multipart)\//i.test(contentType);
  return {
    filename: attachment.filename.toWellFormed(),
    contentType: isOpaque ? 'application/octet-stream' : contentType,
    contentDisposition: contentId === null ? 'attachment' : 'inline',
    contentTransferEncoding: message === null ? 'base64' : '7bit',
    content: message ?? content,
    ...(contentId !== null && { cid: contentId }),
  };
}

/** Composes any input with MailComposer. Rejects with ComposeError for an unfit value. */
export async function composeWithMailComposer(input: ComposeInput): Promise<Composed> {
  checkInput(input);
  const seed = boundarySafe(input.boundarySeed);
  const { html } = input;
  const text =
    input.text === '' && html !== null ? null : (input.text ?? (html === null ? '' : null));
  const draft = draftHeader(input);
  const root = new MailComposer({
    messageId: input.messageIdHeader,
    date: new Date(input.date),
    ...(text !== null && { text: { raw: textPart(plainType, text, seed) } }),
    ...(html !== null && { html: { raw: textPart(htmlType, html, seed) } }),
    attachments: input.attachments.map((attachment) => attachmentOf(attachment, seed)),
    boundaryPrefix: boundaryStart,
    baseBoundary: seed,
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  const built = await root.build();
  const headerEnd = built.indexOf(endOfHeader);
  const contentType = /^Content-Type: (.*(?:\r\n[ \t].*)*)/im.exec(
    built.toString('latin1', 0, headerEnd),
  )?.[1];
  if (contentType === undefined) throw new ComposeError('MailComposer made no Content-Type');
  draft.fields.push({ name: 'Content-Type', value: contentType });
  return {
    fields: draft.fields,
    header: headerBytes(draft),
    body: built.subarray(headerEnd + endOfHeader.length),
    smtpUtf8: draft.isUtf8,
    eightBit: draft.isUtf8,
  };
}
