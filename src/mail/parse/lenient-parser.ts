// mailparser, adapted to read MIME as mail programs do where mailparser alone loses words or
// attachments (lenient-splitter.ts). mailparser splits the mail and decodes the transfer encodings.
// This file collects the bytes of texts, within bounds, and text.ts decodes their charsets. Patches
// internals of mailparser, so the version is pinned.
import type { Transform } from 'node:stream';
import { MailParser } from 'mailparser';
import { parseLimits } from '../mime/parsed-mail.ts';
import {
  makeLenient,
  type SplitFindings,
  type SplitNode,
  type SplitSource,
  type Splitter,
} from './lenient-splitter.ts';
import type { TextNode } from './text.ts';

/** Members of mailparser that its types do not declare. */
interface Insides {
  tree: TextNode | false;
  curnode: TextNode & { isAttachment?: boolean; decoder?: Transform };
  splitter: Splitter;
  processChunk(data: Chunk, done: (error?: Error) => void): void;
}

type Chunk = { type: string; node?: SplitNode; value?: Buffer } & Partial<SplitNode>;

export interface LenientParser {
  parser: MailParser;
  findings: SplitFindings;
  /** Returns the parts found so far, or null. */
  tree(): TextNode | null;
}

/** Called with the decoded bytes of a part. */
export type ByteWatcher = (node: object, chunk: Buffer) => void;

const carriageReturn = 0x0d;

/** Creates a parser of `source` with mailparser's `options`. */
export function createLenientParser(
  options: object,
  source: SplitSource,
  watch?: ByteWatcher,
): LenientParser {
  const parser = new MailParser(options);
  const insides = parser as unknown as Insides;
  const findings = makeLenient(insides.splitter, source);
  const preambles = new WeakMap<object, ByteCollector>();
  const processChunk = insides.processChunk.bind(parser);
  insides.processChunk = (data, done) => {
    if (data.type === 'node' && data.flowed === true) {
      data.isFlowed = true;
      data.flowed = false;
    }
    const { node: owner, value } = data;
    if (data.type === 'data' && owner?.multipart && value) preambles.get(owner)?.add(value);
    processChunk(data, done);
    if (data.type !== 'node') return;
    const { curnode } = insides;
    const { isAttachment, decoder, node, charset } = curnode;
    if (isAttachment === false && decoder && node) {
      const text = new ByteCollector(charset);
      node.text = text;
      collect(decoder, text);
    } else if (node && data.multipart) {
      // Collects the text of a multipart that has no part.
      const preamble = new ByteCollector(undefined);
      node.text = preamble;
      preambles.set(data, preamble);
    }
    if (watch && decoder && node) watchBytes(decoder, (chunk) => watch(node, chunk));
  };
  return { parser, findings, tree: () => insides.tree || null };
}

/** Most bytes per character in a charset whose characters are not counted. */
const mostBytesPerUnit = 3;

/**
 * Keeps the bytes of a text up to the limit: otherwise 20 MB would become a string in a single turn
 * of the event loop. Counts UTF-8 in characters, other charsets in bytes.
 */
class ByteCollector {
  readonly #isUtf8: boolean;
  readonly #pieces: Buffer[] = [];
  #left: number;
  /** True if bytes beyond the limit were dropped. */
  isCut = false;

  constructor(charset: string | undefined) {
    this.#isUtf8 = /^(?:utf-?8|us-ascii|ascii|)$/i.test(charset ?? '');
    this.#left = (parseLimits.textCharacters + 1) * (this.#isUtf8 ? 1 : mostBytesPerUnit);
  }

  add(chunk: Buffer): void {
    let end = this.#isUtf8 ? 0 : Math.min(chunk.length, this.#left);
    this.#left -= end;
    if (this.#isUtf8) {
      for (; end < chunk.length && this.#left > 0; end += 1) {
        if (startsUnit(chunk[end] ?? 0)) this.#left -= 1;
      }
    }
    if (end < chunk.length) this.isCut = true;
    if (end > 0) this.#pieces.push(chunk.subarray(0, end));
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

function watchBytes(decoder: Transform, watch: (chunk: Buffer) => void): void {
  const push = decoder.push.bind(decoder);
  decoder.push = (chunk: Buffer | null) => {
    if (chunk !== null) watch(chunk);
    return push(chunk);
  };
}

/** Redirects the output of a decoder to `text`. mailparser only receives the end. */
function collect(decoder: Transform, text: ByteCollector): void {
  const push = decoder.push.bind(decoder);
  decoder.push = (chunk: Buffer | null) => {
    if (chunk === null) return push(null);
    text.add(chunk);
    return true;
  };
}

/** Returns false for a byte inside a UTF-8 character, and for CR, because CRLF later becomes LF. */
const startsUnit = (byte: number) => (byte & 0xc0) !== 0x80 && byte !== carriageReturn;
