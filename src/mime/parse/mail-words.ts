// The words that a received mail is found by, made in the parse worker.
import { type DocumentWords, wordsOfDocument } from '../../store/full-text/document.ts';
import type { ParsedMail } from './parsed-mail.ts';

/** Reads the words of subject, author and text, and whether a file is attached. */
export function wordsOfMail(mail: ParsedMail): DocumentWords {
  const { subject, from, text, newContent, quotedContent, attachments } = mail;
  return wordsOfDocument({
    subject: subject ?? '',
    from: [from?.email, from?.name].filter((one) => typeof one === 'string'),
    text: text ?? [newContent, quotedContent].join('\n'),
    // An image that the HTML shows is no attachment to its reader.
    hasAttachment: attachments.some(({ related }) => !related),
  });
}
