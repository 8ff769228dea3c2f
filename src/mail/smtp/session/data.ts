// The data block of DATA: dot-stuffing and the final dot (RFC 5321 4.5.2). Leaves line ends
// unchanged, because the composer decides them.

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const dot = 0x2e;
const oneDot = Buffer.from('.');
const end = Buffer.from('.\r\n');
const endWithLineBreak = Buffer.from('\r\n.\r\n');
/** Most stuffed dots for which a chunk is split into views. For more dots, a copy is cheaper. */
const maxViews = 32;

/**
 * Returns the start offsets of lines in `chunk` that begin with a dot. `isAtLineStart`: the first
 * byte begins a line.
 */
function findLeadingDots(chunk: Buffer, isAtLineStart: boolean): number[] {
  const found = isAtLineStart && chunk[0] === dot ? [0] : [];
  for (let at = chunk.indexOf('\n.'); at !== -1; at = chunk.indexOf('\n.', at + 2)) {
    found.push(at + 1);
  }
  // A lone CR counts too: for some servers it ends a line, so that `\r.\r` would end the message
  // (SMTP smuggling). The search above finds `\r\n.`.
  for (let at = chunk.indexOf('\r.'); at !== -1; at = chunk.indexOf('\r.', at + 2)) {
    found.push(at + 1);
  }
  return found.sort((a, b) => a - b);
}

function copyStuffed(chunk: Buffer, dots: readonly number[]): Buffer {
  const copy = Buffer.allocUnsafe(chunk.length + dots.length);
  let written = 0;
  let from = 0;
  for (const at of dots) {
    written += chunk.copy(copy, written, from, at);
    copy[written] = dot;
    written += 1;
    from = at;
  }
  chunk.copy(copy, written, from);
  return copy;
}

function cutStuffed(chunk: Buffer, dots: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const at of dots) {
    if (at > from) pieces.push(chunk.subarray(from, at));
    pieces.push(oneDot);
    from = at;
  }
  pieces.push(chunk.subarray(from));
  return pieces;
}

/**
 * Returns the bytes to send for a message, with the final dot. Chunks without a leading dot are not
 * copied. A message that does not end with CRLF gets a CRLF (RFC 5321 4.1.1.4).
 */
export function toDataBlock(message: readonly Buffer[]): Buffer[] {
  const block: Buffer[] = [];
  let last = lineFeed;
  let beforeLast = carriageReturn;
  for (const chunk of message) {
    if (chunk.length === 0) continue;
    const dots = findLeadingDots(chunk, last === lineFeed || last === carriageReturn);
    if (dots.length === 0) block.push(chunk);
    else if (dots.length > maxViews) block.push(copyStuffed(chunk, dots));
    else block.push(...cutStuffed(chunk, dots));
    beforeLast = chunk.length > 1 ? (chunk[chunk.length - 2] ?? 0) : last;
    last = chunk[chunk.length - 1] ?? 0;
  }
  block.push(last === lineFeed && beforeLast === carriageReturn ? end : endWithLineBreak);
  return block;
}
