// What goes into composing and what comes out, and the last guard in front of it: whatever would
// break a header is refused here with an Error, though the API has refused it before.
import { isHeaderSafe, parseAddress } from '../net/address.ts';
import type { SigningKey } from './dkim-key.ts';
import type { HeaderField } from './header-encoding.ts';
import {
  isContentId,
  isFilename,
  isMediaType,
  isMessageId,
  isRefusedHeader,
} from './header-encoding.ts';

export interface Mailbox {
  email: string;
  name: string | null;
}

export interface ComposeAttachment {
  filename: string;
  /** Media type, parameters allowed. */
  contentType: string;
  /** Without angle brackets. With an HTML body the part goes beside it, for `cid:` links. */
  contentId: string | null;
  content: Buffer;
}

export interface ComposeInput {
  /** `<left@right>`, the same for every attempt. */
  messageIdHeader: string;
  /** Milliseconds since 1970. */
  date: number;
  from: Mailbox;
  to: readonly Mailbox[];
  cc: readonly Mailbox[];
  replyTo: readonly string[];
  subject: string;
  html: string | null;
  text: string | null;
  attachments: readonly ComposeAttachment[];
  /** The caller's own headers, `[name, value]`. */
  headers: readonly (readonly [string, string])[];
  inReplyTo: string | null;
  references: readonly string[] | null;
  priority: 'high' | 'normal' | 'low' | null;
  /** Makes the MIME boundaries: the message id. Same seed and input, same bytes. */
  boundarySeed: string;
}

/** A message that was handed in as MIME: it goes as it is. */
export interface RawInput {
  raw: Uint8Array;
}

/** What is to be composed, and signed with these keys at this time. */
export interface ComposeRequest {
  input: ComposeInput | RawInput;
  keys: readonly SigningKey[];
  timestampSeconds: number;
}

/** A message, ready to be signed. On the wire: signatures, `header`, `body`, in this order. */
export interface Composed {
  /** The fields of `header` in order, for the signer. */
  fields: readonly HeaderField[];
  /** All fields, each ended by CRLF, and the empty line. */
  header: Buffer;
  /** CRLF line ends only, lines of at most 998 octets; empty, or ended by CRLF. */
  body: Buffer;
  /** An address in the header needs SMTPUTF8; those of the envelope are the caller's to check. */
  smtpUtf8: boolean;
  /** Octets above 127 occur: the next hop must offer 8BITMIME. */
  eightBit: boolean;
}

/** The input cannot be composed; a fault of the caller, since the API refuses such values. */
export class ComposeError extends Error {}

function refuse(field: string): never {
  throw new ComposeError(`${field} cannot be written into a header`);
}

function checkAttachment(attachment: ComposeAttachment): void {
  if (!isFilename(attachment.filename)) refuse('attachment filename');
  if (!isMediaType(attachment.contentType)) refuse('attachment contentType');
  if (attachment.contentId !== null && !isContentId(attachment.contentId)) {
    refuse('attachment contentId');
  }
}

function checkName(field: string, name: string | null): void {
  if (name !== null && !isHeaderSafe(name)) refuse(`${field} name`);
}

/** Throws ComposeError where a value that is bound for a header is not fit for one. */
export function checkInput(input: ComposeInput): void {
  if (!isMessageId(input.messageIdHeader)) refuse('messageIdHeader');
  if (!(Math.abs(input.date) < 8.64e15)) refuse('date');
  if (!isHeaderSafe(input.subject)) refuse('subject');
  checkName('from', input.from.name);
  for (const mailbox of input.to) checkName('to', mailbox.name);
  for (const mailbox of input.cc) checkName('cc', mailbox.name);
  if (input.inReplyTo !== null && !isMessageId(input.inReplyTo)) refuse('inReplyTo');
  for (const id of input.references ?? []) if (!isMessageId(id)) refuse('references');
  for (const attachment of input.attachments) checkAttachment(attachment);
  for (const [name, value] of input.headers) {
    if (isRefusedHeader(name) !== null || !isHeaderSafe(value))
      refuse(`header ${JSON.stringify(name)}`);
  }
}

/** The address as it goes into a header; throws ComposeError where it is none. */
export function headerAddress(field: string, email: string): { email: string; isUtf8: boolean } {
  const address = parseAddress(email);
  if (address === null) return refuse(`${field} address`);
  return { email: address.email, isUtf8: address.needsSmtpUtf8 };
}
