// A mail submitted as MIME and sent unchanged: only whole header fields are removed or added in
// front. src/mail/parse reads the content; callers check whether the sender may send it.
import { isAscii } from 'node:buffer';
import { dateText, mailboxesField } from './headers/header.ts';
import type { HeaderField } from './headers/header-encoding.ts';
import { type FieldSpan, scanFields } from './headers/header-fields.ts';
import type { Composed, Mailbox, RawInput } from './input.ts';

/** The two halves of a mail, with CRLF line ends only. */
export interface RawMail {
  /** Header fields, each with the CRLF, without the empty line. */
  header: Buffer;
  body: Buffer;
}

const lineEnd = Buffer.from('\r\n');
const carriageReturn = 0x0d;

/** Returns the offset behind the field's last line end. */
function endOf(raw: Buffer, { end }: FieldSpan): number {
  return Math.min(end + 1, raw.length);
}

/** Splits the mail, without fields for which `isDropped` returns true for the lower-case name. */
export function cutRawMail(raw: Buffer, isDropped: (name: string) => boolean): RawMail {
  const { spans, bodyStart } = scanFields(raw);
  const kept = spans.filter(({ name }) => !isDropped(name.toLowerCase()));
  const pieces = kept.map((span) => raw.subarray(span.start, endOf(raw, span)));
  return { header: Buffer.concat(pieces), body: raw.subarray(bodyStart ?? raw.length) };
}

/** Joins the mail again, with these fields in front. */
export function joinRawMail({ header, body }: RawMail, added: readonly HeaderField[]): Buffer {
  return Buffer.concat([rawMailFront({ header }, added), body]);
}

/** Returns the joined mail up to the body. */
export function rawMailFront(
  { header }: Pick<RawMail, 'header'>,
  added: readonly HeaderField[],
): Buffer {
  const front = added.map(({ name, value }) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(front), header, lineEnd]);
}

/**
 * Returns the mail with a new field after the last field with any of these names (lower case).
 * Without such a field, the new field comes first.
 */
export function withFieldBehind(
  { header, body }: RawMail,
  { name, value }: HeaderField,
  names: readonly string[],
): RawMail {
  const before = scanFields(header).spans.findLast((span) =>
    names.includes(span.name.toLowerCase()),
  );
  const at = before ? endOf(header, before) : 0;
  const field = Buffer.from(`${name}: ${value}\r\n`);
  return { header: Buffer.concat([header.subarray(0, at), field, header.subarray(at)]), body };
}

/** Builds the field `Message-ID` from an id in angle brackets. */
export function messageIdField(messageId: string): HeaderField {
  return { name: 'Message-ID', value: messageId };
}

/** Builds the field `Date` for a time in ms since 1970. */
export function dateField(ms: number): HeaderField {
  return { name: 'Date', value: dateText(ms) };
}

/**
 * Builds the field `From`.
 * @throws ComposeError for a bad address
 */
export function fromField(from: Mailbox): HeaderField {
  return mailboxesField('From', [from]);
}

function fieldOf(raw: Buffer, { name, valueStart, end }: FieldSpan): HeaderField {
  const isCrlf = raw[end - 1] === carriageReturn;
  return { name, value: raw.toString('utf8', valueStart, isCrlf ? end - 1 : end) };
}

/** Splits a raw mail into header fields and body, for signing. */
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
