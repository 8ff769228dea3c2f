// mailparser, adapted to read MIME as other readers do if its own way loses words or attachments: boundaries
// followed by white space, raw bytes within encoded words of part headers, flowed text. Also decodes no more
// of a text part than is kept. Patches internals of mailparser and mailsplit, so their versions are pinned.
import type { Transform } from 'node:stream';
import { MailParser } from 'mailparser';
import { escapeRawWords } from './header-fields.ts';
import { parseLimits } from './parsed-mail.ts';
import type { TextNode } from './text.ts';

/** A node of mailsplit, as far as it is used here. */
interface SplitNode {
  flowed: boolean;
  /** Replaces `flowed`, so that the text is joined after its charset is decoded. */
  isFlowed?: boolean;
  /** True if more bytes came than were decoded. */
  isCut?: boolean;
  addHeaderChunk(line: Buffer | false): void;
}

/** Members that mailparser's types do not declare. */
interface Insides {
  tree: TextNode | false;
  curnode: TextNode & { isAttachment?: boolean; decoder?: Transform };
  splitter: {
    node: SplitNode;
    newNode(parent?: unknown): void;
    compareBoundary(line: Buffer, start: number, boundary: Buffer): 1 | 2 | false;
  };
  processChunk(data: { type: string } & Partial<SplitNode>, done: (error?: Error) => void): void;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const tab = 0x09;
const dash = 0x2d;

/** Returns the end of `line` without its line end and the white space before it. */
function endOfWords(line: Buffer): number {
  let end = line.length;
  while (end > 0) {
    const last = line[end - 1];
    if (last !== lineFeed && last !== carriageReturn && last !== space && last !== tab) break;
    end -= 1;
  }
  return end;
}

/**
 * Returns 1 for a delimiter, 2 for a closing one: `--boundary`, optional `--`, then only white space
 * (RFC 2046 5.1.1, transport padding). Ignores white space at the end of the boundary itself.
 */
function compareBoundary(line: Buffer, start: number, boundary: Buffer): 1 | 2 | false {
  const length = endOfWords(boundary);
  const end = endOfWords(line);
  const after = start + 2 + length;
  if (length === 0 || end < after || !isEqual(line, start + 2, boundary, length)) return false;
  if (end === after) return 1;
  return end === after + 2 && line[after] === dash && line[after + 1] === dash ? 2 : false;
}

function isEqual(line: Buffer, start: number, boundary: Buffer, length: number): boolean {
  return line.compare(boundary, 0, length, start, start + length) === 0;
}

/** Creates a parser with mailparser's `options`; `treeOf` reads its tree. */
export function createLenientParser(options: object): MailParser {
  const parser = new MailParser(options);
  const insides = parser as unknown as Insides;
  const { splitter } = insides;
  splitter.compareBoundary = compareBoundary;
  const newNode = splitter.newNode.bind(splitter);
  splitter.newNode = (parent) => {
    newNode(parent);
    const { node } = splitter;
    const add = node.addHeaderChunk.bind(node);
    node.addHeaderChunk = (line) => add(line && escapeRawWords(line));
  };
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

/** Returns the texts found so far, or null. */
export function treeOf(parser: MailParser): TextNode | null {
  return (parser as unknown as Insides).tree || null;
}
