// Input and result of composing. Also the last check before composing: it refuses values that would
// break a header, although the API already refuses them.
import { isHeaderSafe, parseAddress } from '../../platform/net/address.ts';
import type { SigningKey } from './dkim/dkim-key.ts';
import type { HeaderField } from './headers/header-encoding.ts';
import {
  isContentId,
  isFilename,
  isMessageId,
  isRefusedHeader,
} from './headers/header-encoding.ts';
import { isMediaType } from './media-type.ts';

export interface Mailbox {
  email: string;
  name: string | null;
}

export interface ComposeAttachment {
  filename: string;
  /** Media type, with optional parameters. */
  contentType: string;
  /** Content-ID without angle brackets. An HTML body links to it by `cid:`. */
  contentId: string | null;
  content: Buffer;
}

export interface ComposeInput {
  /** Message-ID as `<left@right>`, the same for every attempt. */
  messageIdHeader: string;
  /** Time of the field Date, ms since 1970. */
  date: number;
  from: Mailbox;
  to: readonly Mailbox[];
  cc: readonly Mailbox[];
  replyTo: readonly string[];
  subject: string;
  html: string | null;
  text: string | null;
  attachments: readonly ComposeAttachment[];
  /** Extra header fields of the caller, as `[name, value]`. */
  headers: readonly (readonly [string, string])[];
  inReplyTo: string | null;
  references: readonly string[] | null;
  priority: 'high' | 'normal' | 'low' | null;
  /** Message id from which boundaries are made, so that equal input gives equal bytes. */
  boundarySeed: string;
}

/** A message submitted as MIME, which is sent unchanged. */
export interface RawInput {
  raw: Uint8Array;
}

/** Input to compose, with the keys and the time of the signatures. */
export interface ComposeRequest {
  input: ComposeInput | RawInput;
  keys: readonly SigningKey[];
  timestampSeconds: number;
}

/** A message to be signed. Order in the sent mail: signatures, `header`, `body`. */
export interface Composed {
  /** Fields of `header` in order, for the signer. */
  fields: readonly HeaderField[];
  /** All fields, each with the CRLF, and the empty line. */
  header: Buffer;
  /** Body with CRLF line ends only and lines of at most 998 octets; empty, or ended by CRLF. */
  body: Buffer;
  /** True if an address in the header needs SMTPUTF8. The caller checks the envelope. */
  smtpUtf8: boolean;
  /** True if octets above 127 occur: the next hop must offer 8BITMIME. */
  eightBit: boolean;
}

/**
 * Error for input that cannot be composed. It is a bug of the caller, because the API refuses such
 * values.
 */
export class ComposeError extends Error {}

/** @throws ComposeError that names the field */
export function refuse(field: string): never {
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

/**
 * Checks all values for the header.
 * @throws ComposeError for an unfit value
 */
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

/**
 * Returns the address as written into a header.
 * @throws ComposeError for an invalid address
 */
export function headerAddress(field: string, email: string): { email: string; isUtf8: boolean } {
  const address = parseAddress(email);
  if (address === null) return refuse(`${field} address`);
  return { email: address.email, isUtf8: address.needsSmtpUtf8 };
}
