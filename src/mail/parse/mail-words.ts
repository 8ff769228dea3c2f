// The words by which full-text search finds a received mail, made in the parse worker.
import { type DocumentWords, wordsOfDocument } from '../../platform/full-text/document.ts';
import type { ParsedMail } from '../mime/parsed-mail.ts';

/** Reads the words of subject, author and text, and whether a file is attached. */
export function wordsOfMail(mail: ParsedMail): DocumentWords {
  const { subject, from, text, newContent, quotedContent, signature, attachments } = mail;
  return wordsOfDocument({
    subject: subject ?? '',
    from: [from?.email, from?.name].filter((one) => typeof one === 'string'),
    text: text ?? [newContent, quotedContent, signature].join('\n'),
    // Readers do not see an image within the HTML as an attachment.
    hasAttachment: attachments.some(({ related }) => !related),
  });
}
