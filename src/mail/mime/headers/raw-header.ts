// Encodes raw UTF-8 in the header of a submitted mail (RFC 2047, RFC 2231), so that any server
// accepts it: in words, phrases, comments and file names. Nothing else changes, and fields that the
// author's DKIM-Signature covers stay.
import { isAscii, isUtf8 } from 'node:buffer';
import { encodeExtraHeader } from './header-encoding.ts';
import { type FieldSpan, scanFields } from './header-fields.ts';
import { decodeWords } from './header-values.ts';
import { encodeFileNames } from './parameters.ts';
import { encodeStructured, grammarOf } from './structured-fields.ts';

/** Returns the value in ASCII; null for a field that needs SMTPUTF8 or cannot be encoded. */
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
 * Returns the mail with encoded words in place of raw UTF-8. Fields that are signed by the author,
 * not UTF-8 or impossible to encode stay unchanged. Line ends are CRLF.
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
 * Returns the name of the first field with non-ASCII characters that must be a mistake of the
 * author: the field has no address for SMTPUTF8 (RFC 6532), and no DKIM-Signature covers the field.
 * Null if no field has such characters.
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
