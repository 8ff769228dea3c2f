// Encodes the 8-bit parts of a submitted mail for a server without 8BITMIME (RFC 6152 3). Must run
// before signing, because a later change would break the signature. Text becomes quoted-printable
// or base64, all further content base64. Of a composite type only the inner parts are encoded,
// because the type itself may not be encoded (RFC 2045 6.4).
import { isAscii, isUtf8 } from 'node:buffer';
import { type FieldSpan, scanFields } from './headers/header-fields.ts';
import { readParameters } from './headers/header-values.ts';
import { encodeBase64, encodeTextBytes } from './text.ts';

const deepest = 30;
const mostParts = 1_000;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const dash = 0x2d;
const space = 0x20;
const tab = 0x09;
const questionMark = 0x3f;
const encodingName = 'content-transfer-encoding';

/** Surroundings of an entity (a mail or a part of it). */
interface Place {
  depth: number;
  /** Boundaries of the multiparts around the entity: encoded lines must not begin with them. */
  boundaries: readonly string[];
  /** Media type of an entity without Content-Type. */
  defaultType: string;
}

/**
 * Returns the mail with ASCII alone, or null if that is impossible: 8-bit header fields (they need
 * SMTPUTF8), signed parts, and broken or very deep MIME. Expects CRLF line ends. Never throws.
 */
export function toSevenBit(raw: Buffer): Buffer | null {
  return encodeEntity(raw, { depth: 0, boundaries: [], defaultType: 'text/plain' });
}

function encodeEntity(entity: Buffer, place: Place): Buffer | null {
  if (isAscii(entity)) return entity;
  const { spans, bodyStart, cutBy } = scanFields(entity);
  if (place.depth > deepest || cutBy !== null || bodyStart === null) return null;
  const header = entity.subarray(0, bodyStart);
  if (!isAscii(header)) return null;
  const body = entity.subarray(bodyStart);
  const first = (name: string) => fieldValue(entity, spans, name);
  const { value, parameters } = readParameters(first('content-type'));
  const type = value || place.defaultType;
  const inner = { ...place, depth: place.depth + 1 };
  if (type === 'multipart/signed') return null;
  if (type.startsWith('multipart/')) {
    const defaultType = type === 'multipart/digest' ? 'message/rfc822' : 'text/plain';
    const encoded = encodeParts(body, parameters['boundary'] ?? '', { ...inner, defaultType });
    return encoded && joined({ header, spans }, encoded, '7bit', []);
  }
  if (type === 'message/rfc822' || type === 'message/global') {
    const encoded = encodeEntity(body, { ...inner, defaultType: 'text/plain' });
    return encoded && joined({ header, spans }, encoded, '7bit', []);
  }
  if (type.startsWith('message/')) return null;
  const transferEncoding = (first(encodingName) ?? '').toLowerCase();
  const { encoding, data } = encodeBody(body, transferEncoding, type, place);
  if (data === null) return null;
  return joined({ header, spans }, data, encoding, missingFields(spans, body, place));
}

function fieldValue(bytes: Buffer, spans: readonly FieldSpan[], name: string): string | null {
  const span = spans.find((one) => one.name.toLowerCase() === name);
  if (!span) return null;
  return bytes
    .toString('latin1', span.valueStart, span.end)
    .replace(/\r?\n[ \t]/g, ' ')
    .trim();
}

interface EncodedBody {
  encoding: string;
  /** Body in this encoding; null for an unknown encoding. */
  data: Buffer | null;
}

function encodeBody(body: Buffer, present: string, type: string, place: Place): EncodedBody {
  if (present === 'quoted-printable') return { encoding: present, data: escapeRest(body) };
  // Decoders ignore octets outside of the alphabet (RFC 2045 6.8), so they can be dropped.
  if (present === 'base64')
    return { encoding: present, data: body.filter((byte) => byte < 0x80) as Buffer };
  if (!['', '7bit', '8bit', 'binary'].includes(present)) return { encoding: present, data: null };
  const inBase64 = { encoding: 'base64', data: Buffer.from(encodeBase64(body)) };
  const last = body[body.length - 1];
  if (!type.startsWith('text/') || last === space || last === tab) return inBase64;
  const { transferEncoding, data } = encodeTextBytes(body);
  const closesPart = place.boundaries.some((boundary) => data.includes(`--${boundary}`));
  return closesPart ? inBase64 : { encoding: transferEncoding, data: Buffer.from(data) };
}

/** Escapes 8-bit octets in text that is already quoted-printable. */
function escapeRest(body: Buffer): Buffer {
  const text = body
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (one) => `=${one.charCodeAt(0).toString(16).toUpperCase()}`);
  return Buffer.from(text, 'latin1');
}

/** Returns the missing fields without which readers would take the encoded body for plain ASCII. */
function missingFields(spans: readonly FieldSpan[], body: Buffer, { depth }: Place): string[] {
  const has = (name: string) => spans.some((one) => one.name.toLowerCase() === name);
  const fields: string[] = [];
  if (depth === 0 && !has('mime-version')) fields.push('MIME-Version: 1.0\r\n');
  // This charset is also assumed for received mail without a label. Readers do not know
  // unknown-8bit (RFC 1428).
  const charset = isUtf8(body) ? 'utf-8' : 'windows-1252';
  if (!has('content-type')) fields.push(`Content-Type: text/plain; charset=${charset}\r\n`);
  return fields;
}

/** Builds the entity again: replaces Content-Transfer-Encoding, adds fields, appends the body. */
function joined(
  { header, spans }: { header: Buffer; spans: readonly FieldSpan[] },
  body: Buffer,
  encoding: string,
  added: readonly string[],
): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { name, start, end } of spans) {
    if (name.toLowerCase() !== encodingName) continue;
    pieces.push(header.subarray(at, start));
    at = end + 1;
  }
  const isCrlf = header[header.length - 2] === carriageReturn;
  const emptyLine = header.length - (isCrlf ? 2 : 1);
  pieces.push(header.subarray(at, emptyLine));
  pieces.push(Buffer.from(`${added.join('')}Content-Transfer-Encoding: ${encoding}\r\n\r\n`));
  return Buffer.concat([...pieces, body]);
}

/** A delimiter line within a multipart. */
interface Delimiter {
  start: number;
  /** Offset after the line end. */
  end: number;
  isLast: boolean;
}

function findDelimiter(body: Buffer, delimiter: string, from: number): Delimiter | null {
  for (let at = body.indexOf(delimiter, from); at !== -1; ) {
    const isLast = body[at + delimiter.length] === dash && body[at + delimiter.length + 1] === dash;
    let end = at + delimiter.length + (isLast ? 2 : 0);
    while (body[end] === space || body[end] === tab) end++;
    if (body[end] === carriageReturn) end++;
    const isLine = end >= body.length || body[end] === lineFeed;
    if ((at === 0 || body[at - 1] === lineFeed) && isLine) {
      return { start: at, end: Math.min(end + 1, body.length), isLast };
    }
    at = body.indexOf(delimiter, at + 1);
  }
  return null;
}

/** Encodes the parts of a multipart; null without a boundary, or with too many parts. */
function encodeParts(body: Buffer, boundary: string, place: Place): Buffer | null {
  if (boundary === '') return null;
  const delimiter = `--${boundary}`;
  const inner = { ...place, boundaries: [...place.boundaries, boundary] };
  let before = findDelimiter(body, delimiter, 0);
  if (!before) return null;
  const pieces = [withoutEightBit(body.subarray(0, before.start))];
  for (let parts = 0; before && !before.isLast; parts++) {
    if (parts === mostParts) return null;
    const next: Delimiter | null = findDelimiter(body, delimiter, before.end);
    const end = next ? endBefore(body, before.end, next.start) : body.length;
    const part = encodeEntity(body.subarray(before.end, end), inner);
    if (!part) return null;
    pieces.push(body.subarray(before.start, before.end), part, body.subarray(end, next?.start));
    before = next;
  }
  if (before) pieces.push(withoutEightBit(body.subarray(before.start)));
  return Buffer.concat(pieces);
}

/**
 * Returns the end of a part. The line end before a delimiter belongs to the delimiter (RFC 2046
 * 5.1.1).
 */
function endBefore(body: Buffer, start: number, delimiter: number): number {
  const isCrlf = body[delimiter - 2] === carriageReturn;
  return Math.max(start, delimiter - (isCrlf ? 2 : 1));
}

/** Replaces 8-bit octets of a preamble or an epilogue, which nobody reads, by `?`. */
function withoutEightBit(bytes: Buffer): Buffer {
  return isAscii(bytes)
    ? bytes
    : Buffer.from(bytes.map((byte) => (byte < 0x80 ? byte : questionMark)));
}
