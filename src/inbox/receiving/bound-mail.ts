// Limits the parts of a received mail that authenticate.ts checks: bounds the header and the number
// of signatures, drops the body of a mail without signature or seal, and yields the bytes in
// chunks.
import {
  type FieldSpan,
  findBodyStart,
  scanFields,
} from '../../mail/mime/headers/header-fields.ts';
import { sliceTurns } from '../../platform/runtime/fairness/loop-turns.ts';

const maxSignatures = 10;
/** Longest From field in bytes. mailauth takes 5 ms a KB to read a hostile field. */
const mostFromBytes = 8 * 1024;
/**
 * Matches long white space that no tag of a seal needs, and a long run of CR. mailauth trims both
 * in quadratic time: 60 KB hold the event loop for seconds.
 */
const longSpace = /(?<![ \t\r\n])[ \t\r\n]{100}/;
const longReturns = /(?<!\r)\r{100}/;
const chunkBytes = 64 * 1024;
/** Matches the names of fields that sign or seal a body, in any letter case. */
const vouching = /dkim-signature|arc-/i;

export interface BoundMail {
  pieces: Buffer[];
  isCut: boolean;
  signatures: number;
  /** Header block with only the From fields. */
  author: Buffer;
}

/**
 * Limits the header block of a raw mail: drops lines before the first field, From fields of over 8
 * KB, seals with long white space and all but ten DKIM signatures. Ends the header at a run of CR.
 * Without a signature or seal it drops the body too, because no check needs the body hash.
 */
export function boundMail(raw: Buffer): BoundMail {
  const { spans, bodyStart, end, cutBy, isUnseparated } = scanFields(raw);
  const text = raw.toString('latin1', 0, end);
  const returns = longReturns.exec(text);
  if (returns) return { ...boundMail(raw.subarray(0, returns.index)), isCut: true };
  const named = (name: string) => spans.filter((span) => span.name.toLowerCase() === name);
  const signatures = named('dkim-signature');
  const isLong = (span: FieldSpan) => span.end - span.start > mostFromBytes;
  const [longFroms, shortFroms] = [
    named('from').filter(isLong),
    named('from').filter((one) => !isLong(one)),
  ];
  const froms = shortFroms.map((span) => raw.subarray(span.start, span.end + 1));
  const about = {
    isCut: cutBy !== null || longFroms.length > 0,
    signatures: Math.min(signatures.length, maxSignatures),
    author: Buffer.concat([...froms, Buffer.from('\r\n')]),
  };
  const isVouchedFor = vouching.test(text);
  const left = new Set([...longFroms, ...signatures.slice(maxSignatures)]);
  /**
   * Whether the header lacks the empty line at the end. It is added below: without it, mailauth
   * would read lines of the body as a part of the last field.
   */
  let isOpen = cutBy !== null || isUnseparated;
  for (const [index, span] of spans.entries()) {
    if (!vouching.test(span.name)) continue;
    // mailauth reads lines that are not fields as a part of the field above them.
    const next = spans[index + 1]?.start ?? end;
    if (!longSpace.test(text.slice(span.start, next))) continue;
    left.delete(span);
    left.add({ ...span, end: next - 1 });
    isOpen ||= next === end;
  }
  let start = spans[0]?.start ?? end;
  if (!isOpen && left.size === 0 && start === 0) {
    return { pieces: [isVouchedFor ? raw : raw.subarray(0, end)], ...about };
  }
  const pieces: Buffer[] = [];
  for (const span of [...left].sort((one, other) => one.start - other.start)) {
    pieces.push(raw.subarray(start, span.start));
    start = Math.min(span.end + 1, end);
  }
  pieces.push(raw.subarray(start, end));
  if (isOpen) pieces.push(Buffer.from('\r\n'));
  if (isVouchedFor) pieces.push(raw.subarray(bodyStart ?? findBodyStart(raw, end)));
  return { pieces, ...about };
}

/** Yields the mail in chunks, over turns of the event loop. Hashing 50 MB takes 0.4 s in all. */
export async function* paced(pieces: Buffer[], signal: AbortSignal): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += chunkBytes) {
      signal.throwIfAborted();
      yield piece.subarray(at, at + chunkBytes);
      await sliceTurns('check received mail');
    }
  }
}
