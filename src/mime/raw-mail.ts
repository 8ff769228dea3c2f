// A mail that was handed in as MIME and goes as it is: only whole header fields are taken out or put
// in front, the body is never touched. Reading what it says is parse/; who may send it is not asked here.
import { isAscii } from 'node:buffer';
import { dateText, mailboxField } from './header.ts';
import type { HeaderField } from './header-encoding.ts';
import type { Composed, Mailbox, RawInput } from './input.ts';
import { type FieldSpan, scanFields } from './parse/header-fields.ts';

/** The two halves of a mail; CRLF line ends only. */
export interface RawMail {
  /** The fields, each ended by CRLF, without the empty line behind them. */
  header: Buffer;
  body: Buffer;
}

const lineEnd = Buffer.from('\r\n');
const carriageReturn = 0x0d;

/** Where the field ends behind its last line end. */
function endOf(raw: Buffer, { end }: FieldSpan): number {
  return Math.min(end + 1, raw.length);
}

/** Cuts the mail in two and leaves out the fields that `isDropped` names, in lower case. */
export function cutRawMail(raw: Buffer, isDropped: (name: string) => boolean): RawMail {
  const { spans, bodyStart } = scanFields(raw);
  const kept = spans.filter(({ name }) => !isDropped(name.toLowerCase()));
  const pieces = kept.map((span) => raw.subarray(span.start, endOf(raw, span)));
  return { header: Buffer.concat(pieces), body: raw.subarray(bodyStart ?? raw.length) };
}

/** The mail with these fields in front, whole. */
export function joinRawMail({ header, body }: RawMail, added: readonly HeaderField[]): Buffer {
  const front = added.map(({ name, value }) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(front), header, lineEnd, body]);
}

/** `Message-ID`, as a field. */
export function messageIdField(messageId: string): HeaderField {
  return { name: 'Message-ID', value: messageId };
}

/** `Date` at this time, ms since 1970. */
export function dateField(ms: number): HeaderField {
  return { name: 'Date', value: dateText(ms) };
}

/** `From`, as a field. @throws ComposeError for a bad address. */
export function fromField(from: Mailbox): HeaderField {
  return mailboxField('From', from);
}

function fieldOf(raw: Buffer, { name, valueStart, end }: FieldSpan): HeaderField {
  const isCrlf = raw[end - 1] === carriageReturn;
  return { name, value: raw.toString('utf8', valueStart, isCrlf ? end - 1 : end) };
}

/** What `joinRawMail` made, ready to be signed. */
export function composeRaw({ raw }: RawInput): Composed {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const { spans, bodyStart } = scanFields(bytes);
  const headerEnd = bodyStart ?? bytes.length;
  const header = bytes.subarray(0, headerEnd);
  return {
    fields: spans.map((span) => fieldOf(bytes, span)),
    header,
    body: bytes.subarray(headerEnd),
    smtpUtf8: !isAscii(header),
    eightBit: !isAscii(bytes),
  };
}
