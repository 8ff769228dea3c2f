// The content of a send, made ready outside the accept transaction: attachments decoded, the whole
// digested, so that 40 MB of files hold up nobody's commit.
import { hash } from 'node:crypto';
import type { SendPayload } from '../messages/schema.ts';
import { fileTypeOf } from '../mime/file-type.ts';
import { textOfHtml } from '../mime/html-text.ts';
import type { RawContent } from './raw-content.ts';

export interface SendContent {
  /** Equal for equal contents of one organization. */
  digest: string;
  html: string | null;
  text: string | null;
  attachments: {
    filename: string;
    contentType: string;
    contentId: string | null;
    data: Buffer;
  }[];
  /** A mail that was handed in as MIME: it is all of the content. */
  raw: RawContent | null;
}

/** Raw mails differ in their ids at least, so that none shares what is stored. */
export function rawSendContent(raw: RawContent): SendContent {
  return { digest: '', html: null, text: null, attachments: [], raw };
}

/**
 * Decodes and digests what the payload carries. HTML that comes without a text gets one; `text: ''` is one
 * that says nothing, and no part of the mail.
 */
export function readSendContent(organizationId: string, { email }: SendPayload): SendContent {
  const { html = null } = email;
  const text = email.text ?? (html === null ? null : textOfHtml(html) || null);
  const attachments = (email.attachments ?? []).map((attachment) => ({
    filename: attachment.filename,
    contentType: attachment.contentType ?? fileTypeOf(attachment.filename),
    contentId: attachment.contentId ?? null,
    data: Buffer.from(attachment.content, 'base64'),
  }));
  const files = attachments.map(({ data, ...described }) => [described, sha256(data)]);
  // The lengths tell where the one ends and the other begins.
  const head = JSON.stringify([organizationId, html?.length, text?.length, files]);
  return { digest: sha256(head + (html ?? '') + (text ?? '')), html, text, attachments, raw: null };
}

function sha256(data: string | Buffer): string {
  return hash('sha256', data, 'base64');
}
