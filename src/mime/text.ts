// One text body as ASCII lines (RFC 2045): 7bit where it fits, else whichever of quoted-printable
// and base64 is shorter. Written by hand for speed: nodemailer's encoders are streams.

import { hash } from 'node:crypto';

interface EncodedText {
  transferEncoding: '7bit' | 'quoted-printable' | 'base64';
  /** ASCII with CRLF line ends, no line above 998 (7bit) or 76; empty, or ended by CRLF. */
  data: string;
}

/** What names a boundary: seeds that are no plain token, or too long for 70 characters, are hashed. */
export function boundarySafe(seed: string): string {
  return /^[0-9A-Za-z_]{8,40}$/.test(seed) ? seed : hash('sha256', seed, 'hex').slice(0, 32);
}

/** Starts every boundary; quoted-printable and base64 can never hold it (RFC 2045 6.7). */
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
/** 1 where a byte stands for itself in quoted-printable; space and tab do but at a line's end. */
const isLiteral = Uint8Array.from({ length: 256 }, (_, byte) =>
  [tab, carriageReturn, lineFeed].includes(byte) ||
  (byte >= space && byte <= 0x7e && byte !== equals)
    ? 1
    : 0,
);

function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab;
}

/** CR, LF and CRLF become CRLF; a last line gets its end. */
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
 * The text with CRLF line ends where it can travel as it is (RFC 2045 2.7), else null: not where
 * it holds the boundary's seed, and so might close the part that it is in.
 */
export function asSevenBit(text: string, seed: string): string | null {
  if (!/^[\t\n\r\x20-\x7e]*$/.test(text) || text.includes(seed)) return null;
  const normalized = normalizeNewlines(text);
  return hasLongLine(normalized) ? null : normalized;
}

/** Bytes that quoted-printable writes as `=XX`; space and tab are among them at a line's end. */
function countEscapes(bytes: Buffer): number {
  let escapes = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (isLiteral[byte] === 0) escapes++;
    else if (byte === carriageReturn) escapes += isBlank(bytes[at - 1]) ? 1 : 0;
  }
  return escapes;
}

/** Every CR and LF in `bytes` belongs to a CRLF; the caller has normalized them. */
function quotedPrintable(bytes: Buffer, escapes: number): string {
  const length = bytes.length;
  // A soft break adds 3 bytes to every 73 at least: 4.2 %.
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
    // The last column is kept for the soft break, unless the line ends here anyway.
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

function base64Lines(bytes: Buffer): string {
  const text = bytes.toString('base64');
  let lines = '';
  for (let at = 0; at < text.length; at += base64LineLength) {
    lines += `${text.slice(at, at + base64LineLength)}\r\n`;
  }
  return lines;
}

/**
 * Encodes one body part. CR, LF and CRLF all become CRLF, a last line gets its end, and lone
 * surrogates become U+FFFD; nothing else changes.
 */
export function encodeText(text: string, seed: string): EncodedText {
  const data = asSevenBit(text, seed);
  if (data !== null) return { transferEncoding: '7bit', data };
  const bytes = Buffer.from(normalizeNewlines(text), 'utf8');
  const escapes = countEscapes(bytes);
  // Quoted-printable grows by two bytes an escape, base64 by a third and its line ends (0.37).
  if (2 * escapes > 0.37 * bytes.length) {
    return { transferEncoding: 'base64', data: base64Lines(bytes) };
  }
  return { transferEncoding: 'quoted-printable', data: quotedPrintable(bytes, escapes) };
}

/** A whole MIME part: its header, the empty line, its data. */
export function textPart(contentType: string, text: string, seed: string): string {
  const { transferEncoding, data } = encodeText(text, seed);
  return `Content-Type: ${contentType}\r\nContent-Transfer-Encoding: ${transferEncoding}\r\n\r\n${data}`;
}
