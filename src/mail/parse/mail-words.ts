// The words by which full-text search finds a received mail, made in the parse worker.
import { type DocumentWords, wordsOfDocument } from '../../platform/full-text/document.ts';
import type { ParsedMail } from '../mime/parsed-mail.ts';

/**
 * Reads the words of subject, author and text, and whether a file is attached. The reply split has
 * the words of all parts that a reader sees: HTML beside a text, and a forwarded mail in an
 * attachment.
 */
export function wordsOfMail(mail: ParsedMail): DocumentWords {
  const { subject, from, text, newContent, quotedContent, signature, attachments } = mail;
  const split = [newContent, quotedContent, signature].filter((one) => one !== null);
  return wordsOfDocument({
    subject: subject ?? '',
    from: [from?.email, from?.name].filter((one) => typeof one === 'string'),
    text: split.length > 0 ? split.join('\n') : (text ?? ''),
    hasAttachment: attachments.some(({ related }) => !related),
  });
}
