// The body hash of DKIM: relaxed canonicalization (RFC 6376 3.4.4) and SHA-256. Native searches
// tell whether a segment needs canonicalization. Most bodies do not, and are hashed without a copy.
import { createHash, hash } from 'node:crypto';
import { sliceTurns } from '../../../platform/runtime/fairness/loop-turns.ts';

const tab = 0x09;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

const segmentBytes = 65_536;

const crlf = Buffer.from('\r\n');

/** Returns the end of the content, after which only line ends and white space follow. */
function contentEnd(body: Buffer): number {
  let end = body.length;
  for (; end > 0; end--) {
    const byte = body[end - 1];
    if (byte !== lineFeed && byte !== carriageReturn && byte !== space && byte !== tab) break;
  }
  return end;
}

function isRelaxed(segment: Buffer): boolean {
  return !segment.includes('  ') && !segment.includes('\t') && !segment.includes(' \r');
}

/** Collapses runs of white space to a single space and removes them before a line end. */
function relax(segment: Buffer): Buffer {
  const out = Buffer.allocUnsafe(segment.length);
  let at = 0;
  let blank = false;
  for (let i = 0; i < segment.length; i++) {
    const byte = segment[i] ?? 0;
    if (byte === space || byte === tab) {
      blank = true;
      continue;
    }
    if (blank && byte !== carriageReturn) out[at++] = space;
    blank = false;
    out[at++] = byte;
  }
  return out.subarray(0, at);
}

/** Hashes in segments, which end after line ends, so that a run of white space is never split. */
async function hashSegments(content: Buffer): Promise<string> {
  const digest = createHash('sha256');
  for (let start = 0; start < content.length; ) {
    const lineEnd = content.indexOf(lineFeed, start + segmentBytes);
    const end = lineEnd === -1 ? content.length : lineEnd + 1;
    const segment = content.subarray(start, end);
    digest.update(isRelaxed(segment) ? segment : relax(segment));
    start = end;
    await sliceTurns();
  }
  return digest.update(crlf).digest('base64');
}

/**
 * Returns the value of `bh=` for relaxed canonicalization and SHA-256. Expects CRLF line ends only,
 * as in composed messages. A body without content hashes as the empty body (RFC 6376 3.4.4).
 */
export async function bodyHash(body: Buffer): Promise<string> {
  const end = contentEnd(body);
  if (end === 0) return hash('sha256', '', 'base64');
  if (end > segmentBytes) return await hashSegments(body.subarray(0, end));
  const content = body.subarray(0, end);
  if (!isRelaxed(content)) return hash('sha256', Buffer.concat([relax(content), crlf]), 'base64');
  const endsPlain = body[end] === carriageReturn && body[end + 1] === lineFeed;
  return hash(
    'sha256',
    endsPlain ? body.subarray(0, end + crlf.length) : Buffer.concat([content, crlf]),
    'base64',
  );
}
