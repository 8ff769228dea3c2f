// mailsplit, adapted to read the parts of a mail as mail programs do: the end of a part's header,
// the boundary of a multipart, and the type and transfer encoding of a part. Patches internals of
// mailsplit, so the version is pinned.
import { withKnownCharsets } from '../mime/charset/charset.ts';
import { type HeaderBlock, readHeaderBlock, scanFields } from '../mime/headers/header-fields.ts';
import { decodeWords } from '../mime/headers/header-values.ts';

/** The fields of mailsplit's nodes that are used here. */
export interface SplitNode {
  flowed: boolean;
  /** Replaces mailsplit's `flowed`, so that lines are joined only after the charset is decoded. */
  isFlowed?: boolean;
  contentType: string | false;
  disposition: string | false;
  encoding: string | false;
  filename: string | false;
  headers: { getFirst(name: string): string } | false;
  /** Subtype of a multipart. */
  multipart: string | false;
  partNr: (number | string)[] | false;
  /** Number of parts so far. */
  childPartNumbers: number;
  _boundary: Buffer | false;
  _parentBoundaryOwner: SplitNode | false;
  _headersLines: Buffer[];
  _headerlen: number;
  /** Adds a line. Returns true if the line ends the header. */
  addHeaderChunk(line: Buffer | false): boolean;
  parseHeaders(): void;
}

/**
 * Kind of a delimiter. 1 and 2: opening and closing delimiter of the node. 3 and 4: opening and
 * closing delimiter of an outer multipart.
 */
type Boundary = 1 | 2 | 3 | 4 | false;
type Done = (error: Error | null, data?: unknown, isFlush?: boolean) => void;

export interface Splitter {
  node: SplitNode;
  delimiterOwner: SplitNode | false;
  state: number;
  /** True after the closing delimiter of the node. */
  inEpilogue: boolean;
  push(data: SplitNode): boolean;
  newNode(parent?: unknown): void;
  checkBoundary(line: Buffer): Boundary;
  compareBoundary(line: Buffer, start: number, boundary: Buffer): 1 | 2 | false;
  processLine(line: Buffer | false, isFinal: boolean, next: Done): void;
  _transform(chunk: Buffer, encoding: string, done: () => void): void;
}

/** Bytes that the splitter reads: a short header and the body of the mail. */
export interface SplitSource {
  headBytes: number;
  body: Buffer;
}

/** Facts about the parts that the splitter itself does not report. */
export interface SplitFindings {
  /** True if an inner multipart ended at the boundary of an outer multipart. */
  isUnclosed: boolean;
  /** True if a multipart has a further delimiter after the closing delimiter. */
  hasPartsBehindEnd: boolean;
  /** Multiparts with a closing delimiter. */
  closed: WeakSet<SplitNode>;
  /** Parts with a broken line in the header, or without an empty line after the header. */
  malformed: Set<SplitNode>;
}

/** Value of `Splitter.state` in which mailsplit reads a body. */
const bodyState = 2;
const mediaType = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;
const transferEncodings = ['base64', 'quoted-printable', '7bit', '8bit', 'binary'];
/** Number of bytes after the header of a multipart in which the first delimiter is searched. */
const longestPreamble = 256 * 1024;

/**
 * Returns the Content-* fields of a header, the first of each name; adds `defaultType` if the type
 * is missing. mailsplit and mailparser get only these fields, because header-fields.ts reads all
 * headers of a mail.
 */
export function contentFields(block: HeaderBlock, defaultType: string | null = null): Buffer {
  const seen = new Set<string>();
  let head = '';
  for (const { name, value } of block.fields) {
    const key = name.toLowerCase();
    if (!key.startsWith('content-') || seen.has(key)) continue;
    seen.add(key);
    head += `${name}: ${withKnownCharsets(value)}\r\n`;
  }
  if (defaultType !== null && !seen.has('content-type')) head += `Content-Type: ${defaultType}\r\n`;
  return Buffer.from(`${head}\r\n`);
}

/** Replaces the header lines of a part by its Content-* fields. */
function readFields(node: SplitNode): void {
  const isInDigest = node._parentBoundaryOwner && node._parentBoundaryOwner.multipart === 'digest';
  const block = readHeaderBlock(Buffer.concat(node._headersLines));
  // Parts of a digest are mails by default (RFC 2046 5.1.5).
  const head = contentFields(block, isInDigest ? 'message/rfc822' : null);
  node._headersLines = [head];
  node._headerlen = head.length;
}

const firstOf = ({ headers }: SplitNode, name: string) => (headers ? headers.getFirst(name) : '');

/**
 * Reads a transfer encoding, even in quotes, in an encoded word, or beside comments and parameters.
 */
function readTransferEncoding(value: string): string {
  const words = decodeWords(value.replace(/["']/g, ' ')).toLowerCase();
  const outside = words.replace(/\([^()]{0,200}\)/g, ' ');
  const [first = ''] = outside.split(/[\s;,]+/).filter((word) => word !== '');
  return transferEncodings.includes(first) ? first : words.trim();
}

/**
 * Chooses the form of a boundary that occurs in the mail: unchanged, or without white space, which
 * folding may have added.
 */
function chooseBoundary(boundary: Buffer, ahead: Buffer): Buffer {
  const words = boundary.toString('latin1');
  if (!/\s/.test(words)) return boundary;
  const forms = [words, words.replace(/\s+/g, ' '), words.replace(/\s+/g, '')];
  const found = forms.find((form) => ahead.includes(`--${form}`, 0, 'latin1'));
  return found === undefined ? boundary : Buffer.from(found, 'latin1');
}

/**
 * Replaces an invalid type: `multipart` alone by `multipart/mixed`, the type of a file by
 * `application/octet-stream`, all further types by the default type `text/plain` (RFC 2045 5.2).
 */
function mendType(node: SplitNode): void {
  if (node.contentType !== false && mediaType.test(node.contentType)) return;
  const isMultipart = node._boundary !== false && /^multipart\b/.test(node.contentType || '');
  const isFile = node.filename !== false || node.disposition === 'attachment';
  node.multipart = isMultipart ? 'mixed' : false;
  if (isMultipart) node.contentType = 'multipart/mixed';
  else node.contentType = isFile ? 'application/octet-stream' : 'text/plain';
}

/**
 * Tracks how far the splitter has read, and where the current part's header ends without an empty
 * line.
 */
class Progress {
  readonly #source: SplitSource;
  #chunk: Buffer = Buffer.alloc(0);
  #chunkStart = 0;
  /** Offset after the current line. */
  #end = 0;
  /** Offset of the body of the current part; null if an empty line precedes the body. */
  #bodyStart: number | null = null;

  constructor(source: SplitSource) {
    this.#source = source;
  }

  startChunk(chunk: Buffer): void {
    this.#chunkStart += this.#chunk.length;
    this.#chunk = chunk;
  }

  startLine(line: Buffer): void {
    this.#end = this.#chunkStart + line.byteOffset - this.#chunk.byteOffset + line.length;
  }

  /** Returns the bytes after the current line. */
  get ahead(): Buffer {
    return this.#source.body.subarray(Math.max(this.#end - this.#source.headBytes, 0));
  }

  /** Finds the end of the header that begins here. Returns true if the header is malformed. */
  startHeader(): boolean {
    const { isUnseparated, bodyStart, malformedLines } = scanFields(this.ahead);
    this.#bodyStart = isUnseparated && bodyStart !== null ? this.#end + bodyStart : null;
    return isUnseparated || malformedLines > 0;
  }

  /** True if the header ends after the current line without an empty line. */
  get endsHeader(): boolean {
    return this.#end === this.#bodyStart;
  }
}

function patchNode(node: SplitNode, progress: Progress): void {
  const add = node.addHeaderChunk.bind(node);
  node.addHeaderChunk = (line) => {
    return add(line) || (line !== false && progress.endsHeader);
  };
  const parseHeaders = node.parseHeaders.bind(node);
  node.parseHeaders = () => {
    if (node.headers) return;
    readFields(node);
    parseHeaders();
    node.encoding = readTransferEncoding(firstOf(node, 'Content-Transfer-Encoding'));
    mendType(node);
    if (node._boundary && node.multipart) {
      const ahead = progress.ahead.subarray(0, longestPreamble);
      node._boundary = chooseBoundary(node._boundary, ahead);
    }
  };
}

/**
 * Adapts the splitter, which reads `source`. Returns findings that are complete once the splitter
 * has read all bytes.
 */
export function makeLenient(splitter: Splitter, source: SplitSource): SplitFindings {
  const findings: SplitFindings = {
    isUnclosed: false,
    hasPartsBehindEnd: false,
    closed: new WeakSet(),
    malformed: new Set(),
  };
  const progress = new Progress(source);
  let boundary = false as Boundary;
  const startsPart = () => boundary === 1 || boundary === 3;
  const transform = splitter._transform.bind(splitter);
  splitter._transform = (chunk, encoding, done) => {
    progress.startChunk(chunk);
    transform(chunk, encoding, done);
  };
  const checkBoundary = splitter.checkBoundary.bind(splitter);
  splitter.checkBoundary = (line) => {
    boundary = checkBoundary(line);
    if (boundary === false) {
      const { inEpilogue, node } = splitter;
      if (!inEpilogue || node._boundary === false || findings.hasPartsBehindEnd) return false;
      findings.hasPartsBehindEnd = splitter.compareBoundary(line, 0, node._boundary) !== false;
      return false;
    }
    const { node, delimiterOwner } = splitter;
    const isOuter = boundary === 3 || boundary === 4;
    if (isOuter && delimiterOwner !== node._parentBoundaryOwner) findings.isUnclosed = true;
    if (boundary === 4 && delimiterOwner) findings.closed.add(delimiterOwner);
    if (boundary === 2) findings.closed.add(node);
    return boundary;
  };
  const newNode = splitter.newNode.bind(splitter);
  splitter.newNode = (parent) => {
    newNode(parent);
    patchNode(splitter.node, progress);
  };
  const processLine = splitter.processLine.bind(splitter);
  let forward: Done;
  /** The flush keeps a closing delimiter out of the text if no part precedes the delimiter. */
  const relay: Done = (error, data, isFlush) => forward(error, data, isFlush || boundary === 4);
  splitter.processLine = (line, isFinal, next) => {
    if (line) progress.startLine(line);
    boundary = false;
    forward = next;
    processLine(line, isFinal, relay);
    if (!startsPart()) return;
    if (progress.startHeader()) findings.malformed.add(splitter.node);
    if (!progress.endsHeader) return;
    splitter.node.parseHeaders();
    splitter.push(splitter.node);
    splitter.state = bodyState;
  };
  patchNode(splitter.node, progress);
  return findings;
}
