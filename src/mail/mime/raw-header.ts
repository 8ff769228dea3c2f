// Encodes raw UTF-8 in the header of a mail that was handed in (RFC 2047), so that any server takes it. Other
// bytes of the mail stay as they are.
import { isAscii, isUtf8 } from 'node:buffer';
import { parseAddress } from '../../platform/net/address.ts';
import { mailboxesField } from './header.ts';
import { parseAddressList } from './header-addresses.ts';
import { encodeExtraHeader, type HeaderField } from './header-encoding.ts';
import { type FieldSpan, scanFields } from './header-fields.ts';
import { decodeWords } from './header-values.ts';

/** Unstructured fields. Encoded words within other fields could change their meaning (RFC 2047 5). */
const unstructured =
  /^(?:subject|comments|keywords|organi[sz]ation|thread-topic|content-description|x-.+)$/;
const addressFields = /^(?:resent-)?(?:from|sender|reply-to|to|cc|bcc)$/;

/** Returns the field in ASCII; null if only SMTPUTF8 can carry it, as with an address that is not ASCII. */
function encodeField(name: string, value: string): HeaderField | null {
  const key = name.toLowerCase();
  if (unstructured.test(key)) {
    return { name, value: encodeExtraHeader(name, decodeWords(value)) };
  }
  // A group has a colon or a semicolon, which the list of its addresses would lose.
  if (!addressFields.test(key) || /[:;]/.test(value)) return null;
  const { addresses, invalid, truncated } = parseAddressList(value);
  const isWhole = addresses.length > 0 && invalid === 0 && !truncated;
  const isPlain = addresses.every(({ email }) => parseAddress(email)?.needsSmtpUtf8 === false);
  return isWhole && isPlain ? mailboxesField(name, addresses) : null;
}

function encodeSpan(raw: Buffer, { name, start, valueStart, end }: FieldSpan): Buffer {
  const whole = raw.subarray(start, end + 1);
  if (isAscii(whole) || !isUtf8(whole)) return whole;
  const value = raw.toString('utf8', valueStart, end).replace(/\r?\n/g, '').trim();
  const field = encodeField(name, value);
  return field ? Buffer.from(`${name}: ${field.value}\r\n`) : whole;
}

/**
 * Returns the mail with encoded words in place of raw UTF-8 in its unstructured fields and display names. A
 * field that cannot be encoded, or is not UTF-8, stays. Line ends are CRLF.
 */
export function encodeRawHeader(raw: Buffer): Buffer {
  const { spans, end } = scanFields(raw);
  if (isAscii(raw.subarray(0, end))) return raw;
  const pieces: Buffer[] = [];
  let at = 0;
  for (const span of spans) {
    pieces.push(raw.subarray(at, span.start), encodeSpan(raw, span));
    at = Math.min(span.end + 1, raw.length);
  }
  return Buffer.concat([...pieces, raw.subarray(at)]);
}
