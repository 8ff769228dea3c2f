// Digests of the decoded parts of a mail: its content without its transfer form. A text sent twice by one
// program differs in boundary, Date and Message-ID, but not in its parts.
import { hash } from 'node:crypto';
import { readHeaderBlock } from '../mime/header-fields.ts';
import { readParameters } from '../mime/header-values.ts';
import { parseLimits } from '../mime/parsed-mail.ts';

export interface DecodedPart {
  /** Type `type/subtype`, lower case; a branch of the tree comes before its parts. */
  type: string;
  filename: string | null;
  /** SHA-256 of the content; null for a branch. */
  digest: string | null;
}

interface Walk {
  parts: DecodedPart[];
  depth: number;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const dash = 0x2d;
const equals = 0x3d;

/**
 * Returns the parts of a raw mail in their order. A multipart too deep or beyond the limit counts as one
 * part.
 */
export function decodedParts(raw: Buffer): DecodedPart[] {
  const parts: DecodedPart[] = [];
  addPart(raw, { parts, depth: 0 });
  return parts;
}

function addPart(raw: Buffer, { parts, depth }: Walk): void {
  const block = readHeaderBlock(raw);
  const body = raw.subarray(block.bodyStart ?? block.end);
  const { value, parameters } = readParameters(block.first('content-type'));
  const disposition = readParameters(block.first('content-disposition'));
  const type = value || 'text/plain';
  const filename = disposition.parameters.filename ?? parameters.name ?? null;
  const isLeaf = !type.startsWith('multipart/') || !parameters.boundary;
  if (isLeaf || depth >= parseLimits.depth || parts.length >= parseLimits.parts) {
    const encoding = (block.first('content-transfer-encoding') ?? '').toLowerCase();
    parts.push({ type, filename, digest: digestOf(type, decode(body, encoding)) });
    return;
  }
  parts.push({ type, filename, digest: null });
  for (const piece of split(body, `--${parameters.boundary}`)) {
    addPart(piece, { parts, depth: depth + 1 });
  }
}

function decode(body: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body.toString('latin1'), 'base64');
  return encoding === 'quoted-printable' ? decodeQuoted(body) : body;
}

/** Decodes quoted-printable (RFC 2045 6.7); an invalid escape stays literal. */
function decodeQuoted(body: Buffer): Buffer {
  const out = Buffer.allocUnsafe(body.length);
  let length = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte !== equals) {
      out[length++] = byte;
      continue;
    }
    const next = body.toString('latin1', at + 1, at + 3);
    if (next === '\r\n') at += 2;
    else if (next.startsWith('\n')) at += 1;
    else if (/^[0-9A-Fa-f]{2}$/.test(next)) {
      out[length++] = Number.parseInt(next, 16);
      at += 2;
    } else out[length++] = byte;
  }
  return out.subarray(0, length);
}

/**
 * Hashes a part. For a text, ignores the form of line ends and trailing white space, which depend on the
 * transfer only.
 */
function digestOf(type: string, content: Buffer): string {
  if (!type.startsWith('text/')) return hash('sha256', content, 'hex');
  const text = content.toString('latin1').replaceAll('\r\n', '\n').trimEnd();
  return hash('sha256', Buffer.from(text, 'latin1'), 'hex');
}

/** Returns views of the body between lines that begin with the delimiter (RFC 2046 5.1.1). */
function split(body: Buffer, delimiter: string): Buffer[] {
  const pieces: Buffer[] = [];
  let start = -1;
  let at = body.indexOf(delimiter);
  for (; at !== -1; at = body.indexOf(delimiter, at + delimiter.length)) {
    if (at > 0 && body[at - 1] !== lineFeed) continue;
    if (start !== -1) pieces.push(body.subarray(start, endBefore(body, start, at)));
    const after = at + delimiter.length;
    if (body[after] === dash && body[after + 1] === dash) return pieces;
    const lineEnd = body.indexOf(lineFeed, after);
    start = lineEnd === -1 ? body.length : lineEnd + 1;
    if (pieces.length > parseLimits.parts) return pieces;
  }
  if (start !== -1) pieces.push(body.subarray(start));
  return pieces;
}

/** Returns the end of a part: the line end before a delimiter belongs to the delimiter. */
function endBefore(body: Buffer, start: number, at: number): number {
  const end = body[at - 2] === carriageReturn ? at - 2 : at - 1;
  return Math.max(start, end);
}
