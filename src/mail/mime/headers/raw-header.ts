// Encodes raw UTF-8 in the header of a mail that was handed in (RFC 2047, RFC 2231), so that any
// server takes it: in words, phrases, comments and file names. Other bytes of the mail stay
// as they are, and so do fields that a DKIM-Signature of the author covers.
import { isAscii, isUtf8 } from 'node:buffer';
import { encodeExtraHeader } from './header-encoding.ts';
import { type FieldSpan, scanFields } from './header-fields.ts';
import { decodeWords } from './header-values.ts';
import { encodeFileNames } from './parameters.ts';
import { encodeStructured, grammarOf } from './structured-fields.ts';

/** Returns the value in ASCII; null if only SMTPUTF8 can carry the field, or nothing can. */
function encodeField(name: string, value: string): string | null {
  if (/^content-(?:type|disposition)$/i.test(name)) return encodeFileNames(name, value);
  const grammar = grammarOf(name);
  if (grammar === 'words') return encodeExtraHeader(name, decodeWords(value));
  return encodeStructured(name, grammar, value, { decode: decodeWords, encodesUris: false });
}

const unfolded = (raw: Buffer, { valueStart, end }: FieldSpan) =>
  raw.toString('utf8', valueStart, end).replace(/\r?\n/g, '').trim();

/** Returns the names in `h=` of all DKIM-Signature fields (RFC 6376 3.5), lower case. */
function namesInSignatures(raw: Buffer, spans: readonly FieldSpan[]): Set<string> {
  const values = spans
    .filter(({ name }) => name.toLowerCase() === 'dkim-signature')
    .map((span) => unfolded(raw, span));
  const names = values.flatMap((value) => {
    const tags = value.split(';').map((tag) => tag.split('=', 2));
    const list = tags.find(([tag]) => tag?.trim() === 'h')?.[1] ?? '';
    return list.split(':').map((name) => name.trim().toLowerCase());
  });
  return new Set(names);
}

function encodeSpan(raw: Buffer, span: FieldSpan): Buffer {
  const { name, start, end } = span;
  const whole = raw.subarray(start, end + 1);
  if (isAscii(whole) || !isUtf8(whole)) return whole;
  const value = encodeField(name, unfolded(raw, span));
  return value === null ? whole : Buffer.from(`${name}: ${value}\r\n`);
}

/**
 * Returns the mail with encoded words in place of raw UTF-8. A field that cannot be encoded, is not
 * UTF-8 or is signed by the author stays. Line ends are CRLF.
 */
export function encodeRawHeader(raw: Buffer): Buffer {
  const { spans, end } = scanFields(raw);
  if (isAscii(raw.subarray(0, end))) return raw;
  const signed = namesInSignatures(raw, spans);
  const pieces: Buffer[] = [];
  let at = 0;
  for (const span of spans) {
    if (signed.has(span.name.toLowerCase())) continue;
    pieces.push(raw.subarray(at, span.start), encodeSpan(raw, span));
    at = Math.min(span.end + 1, raw.length);
  }
  return Buffer.concat([...pieces, raw.subarray(at)]);
}

/**
 * Returns the first field with raw characters beyond ASCII that only an author's mistake explains:
 * neither an address that needs SMTPUTF8 (RFC 6532), nor a field that a DKIM-Signature covers. Null
 * without such a field.
 */
export function findRawField(raw: Buffer): string | null {
  const { spans, end } = scanFields(raw);
  if (isAscii(raw.subarray(0, end))) return null;
  const signed = namesInSignatures(raw, spans);
  const isAddressed = (span: FieldSpan) =>
    grammarOf(span.name) === 'addresses' &&
    encodeStructured(span.name, 'addresses', unfolded(raw, span), { keepsAddresses: true }) !==
      null;
  const odd = spans.find(
    (span) =>
      !isAscii(raw.subarray(span.start, span.end)) &&
      !signed.has(span.name.toLowerCase()) &&
      !isAddressed(span),
  );
  return odd?.name ?? null;
}
