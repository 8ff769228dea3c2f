// Encodes a text body as ASCII lines (RFC 2045): 7bit if possible, else the shorter of
// quoted-printable and base64. Not nodemailer's encoders, which are streams and slower.

import { hash } from 'node:crypto';

interface EncodedText {
  transferEncoding: '7bit' | 'quoted-printable' | 'base64';
  /**
   * ASCII text with CRLF line ends, and lines of at most 998 (7bit) or 76 characters. Empty, or
   * ended by CRLF.
   */
  data: string;
}

/**
 * Returns a seed for boundaries. Hashes a text that is not a plain token or too long for the 70
 * characters of a boundary.
 */
export function boundarySafe(seed: string): string {
  return /^[0-9A-Za-z_]{8,40}$/.test(seed) ? seed : hash('sha256', seed, 'hex').slice(0, 32);
}

/** Start of every boundary; quoted-printable and base64 never contain it (RFC 2045 6.7). */
export const boundaryStart = '=_';

const longestLine = 998;
const qpLineLength = 76;
const base64LineLength = 76;

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const tab = 0x09;
const space = 0x20;
const equals = 0x3d;

const hexDigits = Buffer.from('0123456789ABCDEF', 'latin1');
/**
 * Table with 1 for bytes that stay literal in quoted-printable. Space and tab at the end of a line
 * are exceptions.
 */
const isLiteral = Uint8Array.from({ length: 256 }, (_, byte) =>
  [tab, carriageReturn, lineFeed].includes(byte) ||
  (byte >= space && byte <= 0x7e && byte !== equals)
    ? 1
    : 0,
);

function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab;
}

/** Turns CR, LF and CRLF into CRLF and ends the last line. */
export function normalizeNewlines(text: string): string {
  const normalized = text.includes('\r')
    ? text.replace(/\r\n?|\n/g, '\r\n')
    : text.replaceAll('\n', '\r\n');
  return normalized === '' || normalized.endsWith('\r\n') ? normalized : `${normalized}\r\n`;
}

function hasLongLine(text: string): boolean {
  if (text.length <= longestLine) return false;
  let start = 0;
  for (let end = text.indexOf('\r\n'); end !== -1; end = text.indexOf('\r\n', start)) {
    if (end - start > longestLine) return true;
    start = end + 2;
  }
  return text.length - start > longestLine;
}

/**
 * Returns the text with CRLF line ends if it can be sent as 7bit (RFC 2045 2.7), else null. Also
 * null for a text that contains the boundary's seed, which might end the part early.
 */
export function asSevenBit(text: string, seed: string): string | null {
  if (!/^[\t\n\r\x20-\x7e]*$/.test(text) || text.includes(seed)) return null;
  const normalized = normalizeNewlines(text);
  return hasLongLine(normalized) ? null : normalized;
}

/**
 * Counts bytes that quoted-printable writes as `=XX`, including space and tab at the end of a line.
 */
function countEscapes(bytes: Buffer): number {
  let escapes = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (isLiteral[byte] === 0) escapes++;
    else if (byte === carriageReturn) escapes += isBlank(bytes[at - 1]) ? 1 : 0;
  }
  return escapes;
}

/** Encodes `bytes`, in which every CR and LF must belong to a CRLF. */
function quotedPrintable(bytes: Buffer, escapes: number): string {
  const length = bytes.length;
  // A soft break adds 3 bytes to 73 bytes or more: at most 4.2 %.
  const out = Buffer.allocUnsafe(Math.ceil((length + 2 * escapes) * 1.05) + 16);
  let at = 0;
  let column = 0;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === carriageReturn || byte === lineFeed) {
      out[at++] = byte;
      column = 0;
      continue;
    }
    const literal = isLiteral[byte] === 1 && !(isBlank(byte) && bytes[i + 1] === carriageReturn);
    column += literal ? 1 : 3;
    // The last column is reserved for the soft break, unless the line ends here anyway.
    if (column >= qpLineLength && (column > qpLineLength || bytes[i + 1] !== carriageReturn)) {
      out[at++] = equals;
      out[at++] = carriageReturn;
      out[at++] = lineFeed;
      column = literal ? 1 : 3;
    }
    if (literal) {
      out[at++] = byte;
    } else {
      out[at++] = equals;
      out[at++] = hexDigits[byte >> 4] ?? 0;
      out[at++] = hexDigits[byte & 15] ?? 0;
    }
  }
  return out.toString('latin1', 0, at);
}

/** Encodes bytes as base64, in lines that each end with CRLF. */
export function encodeBase64(bytes: Buffer): string {
  const text = bytes.toString('base64');
  let lines = '';
  for (let at = 0; at < text.length; at += base64LineLength) {
    lines += `${text.slice(at, at + base64LineLength)}\r\n`;
  }
  return lines;
}

/**
 * Encodes a body part. Turns CR, LF and CRLF into CRLF, ends the last line, and replaces lone
 * surrogates by U+FFFD; changes nothing else.
 */
export function encodeText(text: string, seed: string): EncodedText {
  const data = asSevenBit(text, seed);
  if (data !== null) return { transferEncoding: '7bit', data };
  return encodeTextBytes(Buffer.from(normalizeNewlines(text), 'utf8'));
}

/**
 * Encodes text in any charset, in which every CR and LF belongs to a CRLF, as quoted-printable or
 * base64.
 */
export function encodeTextBytes(bytes: Buffer): EncodedText {
  const escapes = countEscapes(bytes);
  // Quoted-printable adds two bytes for each escape; base64 adds a third and line ends (0.37).
  if (2 * escapes > 0.37 * bytes.length) {
    return { transferEncoding: 'base64', data: encodeBase64(bytes) };
  }
  return { transferEncoding: 'quoted-printable', data: quotedPrintable(bytes, escapes) };
}

/** Returns a whole MIME part: header, empty line and data. */
export function textPart(contentType: string, text: string, seed: string): string {
  const { transferEncoding, data } = encodeText(text, seed);
  return `Content-Type: ${contentType}\r\nContent-Transfer-Encoding: ${transferEncoding}\r\n\r\n${data}`;
}
