// Mail that the service writes. Proofs of sender addresses and mails to confirm a group are sends
// of the caller that asked for them, with the same checks, quota and usage. Mail to persons belongs
// to the service (people/). Both kinds of mail have the From of the service, so that no answer that
// quotes the mail reaches the caller (src/identity/senders/resolve.ts). A mail contains at most a
// single link and few words of the caller. It is untracked, and marked as written by a program (RFC
// 3834), so that no absence note answers it.
import type { Caller } from '../../core/api/route.ts';
import { escapeHtml } from '../../platform/net/escape-html.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import type { AcceptRequest } from './accept.ts';
import { readSendContent } from './content.ts';

/** Most characters of the caller's words in a mail. */
const mostCharacters = 60;

/** The texts of a mail, in plain text. */
export interface ServiceWords {
  subject: string;
  /** The first sentence. */
  opening: string;
  /**
   * Purpose of the button as a verb phrase that follows "To", such as "allow it". Left out in mail
   * without a link.
   */
  purpose?: string;
  button?: string;
  /** A sentence for the plain text: a command that does the same as the page. */
  command?: string;
  closing: string;
}

interface ServiceMail {
  caller: Caller;
  to: SendPayload['to'][number];
  /** Address for which the mail is written. The constraints of the caller's key apply to it. */
  onBehalfOf: string;
  /** Words of the caller, of any length. */
  name: string;
  /** Returns the texts around the caller's words. */
  words: (name: string) => ServiceWords;
  /** The only link in the mail; null for mail without a link. */
  url: string | null;
  /** From; by default the default sender of the first organization. */
  from?: SendPayload['from'];
}

/** Tells whether a mail program may turn a word into a link. */
const isLinkLike = (word: string) => /[.。．｡][\p{L}\p{N}]|@|:\/\//u.test(word);

/** Returns a caller's words for a mail: a single line, cut, without addresses and links. */
function wordsOfCaller(text: string): string {
  const words = text
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .split(' ');
  const safe = [...words.map((word) => (isLinkLike(word) ? '…' : word)).join(' ')];
  return safe.length > mostCharacters
    ? `${safe.slice(0, mostCharacters - 1).join('')}…`
    : safe.join('');
}

function textOf({ opening, purpose, command, closing }: ServiceWords, url: string | null): string {
  const page = url && `To ${purpose}, open this page and press the button:\n${url}`;
  const parts = [opening, page, command, closing].filter((part) => part != null);
  return [...parts, ''].join('\n\n');
}

function linkOf(button: string, url: string): string {
  const href = escapeHtml(url);
  return `
<p><a href="${href}" style="display: inline-block; padding: 12px 20px; border-radius: 6px; background: #14599e; color: #ffffff; font-weight: bold; text-decoration: none">${escapeHtml(button)}</a></p>
<p>Or open this page: <a href="${href}" style="word-break: break-all">${href}</a></p>`;
}

function htmlOf(
  { subject, opening, button = 'Open the page', closing }: ServiceWords,
  url: string | null,
): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>
<body style="margin: 0; padding: 24px; font: 16px/1.5 sans-serif">
<p>${escapeHtml(opening)}</p>${url ? linkOf(button, url) : ''}
<p>${escapeHtml(closing)}</p>
</body></html>
`;
}

/** Composes a mail of the service. Returns the request that puts it into the queue. */
export function serviceMail({
  caller,
  to,
  onBehalfOf,
  name,
  words,
  url,
  from,
}: ServiceMail): AcceptRequest & { onBehalfOf: string } {
  const said = words(wordsOfCaller(name));
  const payload: SendPayload = {
    channel: 'email',
    ...(from && { from }),
    to: [to],
    email: {
      subject: said.subject,
      html: htmlOf(said, url),
      text: textOf(said, url),
      headers: { 'Auto-Submitted': 'auto-generated' },
    },
  };
  const content = readSendContent(caller.organizationId, payload);
  return { caller, payload, content, idempotency: null, onBehalfOf };
}
