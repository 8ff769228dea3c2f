// Decodes bytes of files, standard input and requests as text. Refuses bytes that are not UTF-8,
// because U+FFFD would otherwise replace them unnoticed.
import { isUtf8 } from 'node:buffer';

const mark = '\uFEFF';
const replacement = '\uFFFD';
const bytesOfReplacement = Buffer.from(replacement);

/**
 * Returns the text of UTF-8 bytes without a byte order mark (RFC 3629 6). For invalid bytes,
 * returns a problem that names the offset of the first invalid byte, from 0.
 */
export function decodeUtf8(bytes: Buffer): { text: string } | { problem: string } {
  const text = bytes.toString('utf8');
  if (!isUtf8(bytes)) return { problem: `is not UTF-8 text at byte ${invalidOffset(bytes, text)}` };
  return { text: text.startsWith(mark) ? text.slice(mark.length) : text };
}

/**
 * Returns the offset of the first invalid byte. There `text` has a U+FFFD, and `bytes` have no
 * encoded U+FFFD.
 */
function invalidOffset(bytes: Buffer, text: string): number {
  let offset = 0;
  let passed = 0;
  for (let at = text.indexOf(replacement); at !== -1; at = text.indexOf(replacement, at + 1)) {
    offset += Buffer.byteLength(text.slice(passed, at));
    passed = at;
    const own = bytes.subarray(offset, offset + bytesOfReplacement.length);
    if (!own.equals(bytesOfReplacement)) return offset;
  }
  return offset;
}
