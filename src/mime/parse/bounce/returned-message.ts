// What a report tells of the message that it is about: its Message-ID and the addresses of ours
// that carry a token (contract 8). Reads attached header blocks and copies inside a text.
import { readHeaderBlock } from '../header-fields.ts';
import { readMessageIds } from '../header-values.ts';
import type { ParsedMail } from '../parsed-mail.ts';

export interface ReturnedMessage {
  /** With angle brackets. */
  messageId: string | null;
  /** From and To of the copy, lower case: who is not the failed recipient, and who may be. */
  from: string | null;
  to: string[];
  /** `bounce+<token>@…` and `unsub+<token>@…` wherever the copy shows them, without repeats. */
  tokenAddresses: string[];
}

const messageTypes = new Set([
  'message/rfc822',
  'message/global',
  'message/global-headers',
  'text/rfc822-headers',
]);
const maxCopyCharacters = 64 * 1024;
const maxTokenAddresses = 20;
const idLine = /^[ \t>|]{0,8}message-id:[ \t]{0,8}(?:\r?\n[ \t]{1,8})?(<[^<>\s]{1,996}>)/im;
const tokenAddress = /\b(?:bounce|unsub)\+[A-Za-z0-9_.=-]{1,200}@[A-Za-z0-9.-]{1,253}[A-Za-z0-9]/gi;
const address = /[^\s<>()"',;:@]{1,64}@[^\s<>()"',;:@]{1,255}/g;

/** The addresses with a token of ours in a text, in their order. */
export function findTokenAddresses(text: string): string[] {
  return [...new Set(text.match(tokenAddress) ?? [])].slice(0, maxTokenAddresses);
}

function addressesOf(value: string | null): string[] {
  return (value?.slice(0, 4096).match(address) ?? []).map((one) => one.toLowerCase());
}

/** The copy attached to a report, its header alone or what was kept of it; null where there is none. */
export function findAttachedCopy(mail: ParsedMail): string | null {
  return mail.reports.find(({ contentType }) => messageTypes.has(contentType))?.text ?? null;
}

/**
 * Reads the copy attached to a report, else the one that its text quotes (`quoted`), else what its
 * own References say: bounces answer the message that they return.
 */
export function readReturnedMessage(mail: ParsedMail, quoted: string): ReturnedMessage {
  const attached = findAttachedCopy(mail);
  const copy = (attached ?? quoted).slice(0, maxCopyCharacters);
  const header = readHeaderBlock(Buffer.from(attached ?? copy.trimStart()));
  const messageId =
    readMessageIds(header.first('message-id'))[0] ??
    idLine.exec(copy)?.[1] ??
    mail.inReplyTo ??
    mail.references.at(-1) ??
    null;
  return {
    messageId,
    from: addressesOf(header.first('from'))[0] ?? null,
    to: addressesOf(header.first('to')),
    tokenAddresses: findTokenAddresses(copy),
  };
}
