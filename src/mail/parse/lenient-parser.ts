// mailparser, adapted to read MIME as other readers do if its own way loses words or attachments: boundaries
// (lenient-splitter.ts), raw bytes within encoded words of part headers, flowed text. Also decodes no more of
// a text part than is kept. Patches internals of mailparser, so its version is pinned.
import type { Transform } from 'node:stream';
import { MailParser } from 'mailparser';
import { parseLimits } from '../mime/parsed-mail.ts';
import { makeLenient, type SplitNode, type Splitter } from './lenient-splitter.ts';
import type { TextNode } from './text.ts';

/** Members that mailparser's types do not declare. */
interface Insides {
  tree: TextNode | false;
  curnode: TextNode & { isAttachment?: boolean; decoder?: Transform };
  splitter: Splitter;
  processChunk(data: { type: string } & Partial<SplitNode>, done: (error?: Error) => void): void;
}

const carriageReturn = 0x0d;

/** Parsers of a mail in which an inner multipart was not closed. */
const unclosed = new WeakSet<MailParser>();

/** Creates a parser with mailparser's `options`; `treeOf` reads its tree. */
export function createLenientParser(options: object): MailParser {
  const parser = new MailParser(options);
  const insides = parser as unknown as Insides;
  makeLenient(insides.splitter, () => unclosed.add(parser));
  const processChunk = insides.processChunk.bind(parser);
  insides.processChunk = (data, done) => {
    if (data.type === 'node' && data.flowed === true) {
      data.isFlowed = true;
      data.flowed = false;
    }
    processChunk(data, done);
    const { isAttachment, decoder, node, charset = 'utf-8' } = insides.curnode;
    if (data.type === 'node' && isAttachment === false && decoder && node) {
      bound(decoder, node, charset);
    }
  };
  return parser;
}

/** Bytes per unit of the limit, for charsets whose characters are not counted. */
const mostBytesPerUnit = 3;

/**
 * Drops decoder output beyond the kept part of a text: otherwise 20 MB would become one string in one turn.
 * Counts UTF-8 in characters, other charsets in bytes.
 */
function bound(decoder: Transform, node: { isCut?: boolean }, charset: string): void {
  const push = decoder.push.bind(decoder);
  const isUtf8 = /^(?:utf-?8|us-ascii|ascii)$/i.test(charset);
  let left = (parseLimits.textCharacters + 1) * (isUtf8 ? 1 : mostBytesPerUnit);
  decoder.push = (chunk: Buffer | null) => {
    if (chunk === null) return push(null);
    let end = 0;
    for (; end < chunk.length && left > 0; end += 1) {
      if (!isUtf8 || startsUnit(chunk[end] ?? 0)) left -= 1;
    }
    if (end < chunk.length) node.isCut = true;
    return end === 0 || push(chunk.subarray(0, end));
  };
}

/** Returns false for a byte within a character, and for CR, which is removed from line ends. */
const startsUnit = (byte: number) => (byte & 0xc0) !== 0x80 && byte !== carriageReturn;

/** Returns true if an inner multipart was not closed before the next part of an outer one. */
export function hasUnclosed(parser: MailParser): boolean {
  return unclosed.has(parser);
}

/** Returns the texts found so far, or null. */
export function treeOf(parser: MailParser): TextNode | null {
  return (parser as unknown as Insides).tree || null;
}
