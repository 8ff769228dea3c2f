// mailsplit, adapted to find the boundaries of a multipart as other readers do: followed by white space, or of
// an outer multipart while an inner one is not closed. Patches its internals, so its version is pinned.
import { escapeRawWords } from '../mime/header-fields.ts';

/** A node of mailsplit, as far as it is used here. */
export interface SplitNode {
  flowed: boolean;
  /** Replaces `flowed`, so that the text is joined after its charset is decoded. */
  isFlowed?: boolean;
  /** True if more bytes came than were decoded. */
  isCut?: boolean;
  /** Subtype of a multipart. */
  multipart: string | false;
  _boundary: Buffer | false;
  _parentBoundary: Buffer | false;
  _parentBoundaryOwner: SplitNode | false;
  _headersLines: Buffer[];
  _headerlen: number;
  addHeaderChunk(line: Buffer | false): void;
  parseHeaders(): void;
}

/** 1 and 2: a delimiter and a closing one of the node itself; 3 and 4: of the multipart that holds it. */
type Boundary = 1 | 2 | 3 | 4 | false;

export interface Splitter {
  node: SplitNode;
  newNode(parent?: unknown): void;
  checkBoundary(line: Buffer): Boundary;
  compareBoundary(line: Buffer, start: number, boundary: Buffer): 1 | 2 | false;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const tab = 0x09;
const dash = 0x2d;
/** Longest line that is looked up among outer boundaries. */
const longestDelimiter = 300;

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

/** Finds the boundaries of outer multiparts, by one look-up for each line that starts with `--`. */
class OuterBoundaries {
  /** For each open multipart: the multiparts within it that hold a boundary's next part, by boundary. */
  readonly #outer = new WeakMap<SplitNode, Map<string, SplitNode>>();

  /** Returns the node whose holder has this boundary, and whether the line closes it; null for other lines. */
  find(line: Buffer, node: SplitNode): { within: SplitNode; isClosing: boolean } | null {
    const holder = node._parentBoundaryOwner;
    if (holder === false || holder._parentBoundaryOwner === false) return null;
    const start = line[0] === carriageReturn ? 1 : 0;
    const from = line[start] === lineFeed ? start + 1 : start;
    if (line[from] !== dash || line[from + 1] !== dash || line.length > longestDelimiter)
      return null;
    const words = line.toString('latin1', from + 2, endOfWords(line));
    const outer = this.#outerOf(holder);
    const within = outer.get(words);
    if (within) return { within, isClosing: false };
    const closed = words.endsWith('--') ? outer.get(words.slice(0, -2)) : undefined;
    return closed ? { within: closed, isClosing: true } : null;
  }

  #outerOf(node: SplitNode): Map<string, SplitNode> {
    const known = this.#outer.get(node);
    if (known) return known;
    const found = new Map<string, SplitNode>();
    for (let at = node; at._parentBoundaryOwner !== false; at = at._parentBoundaryOwner) {
      const boundary = at._parentBoundary;
      const words = boundary ? boundary.toString('latin1', 0, endOfWords(boundary)) : '';
      if (words !== '' && !found.has(words)) found.set(words, at);
    }
    this.#outer.set(node, found);
    return found;
  }
}

const messageType = Buffer.from('Content-Type: message/rfc822\r\n');

/** Gives a part of a digest without a type the type of a message (RFC 2046 5.1.5). */
function addDigestType(node: SplitNode): void {
  const isInDigest = node._parentBoundaryOwner && node._parentBoundaryOwner.multipart === 'digest';
  if (!isInDigest) return;
  const header = Buffer.concat(node._headersLines).toString('latin1');
  if (/^content-type[ \t]*:/im.test(header)) return;
  node._headersLines.unshift(messageType);
  node._headerlen += messageType.length;
}

/** Adapts the splitter. Calls `onUnclosed` when an inner multipart ends at an outer boundary. */
export function makeLenient(splitter: Splitter, onUnclosed: () => void): void {
  const outer = new OuterBoundaries();
  splitter.compareBoundary = compareBoundary;
  const checkBoundary = splitter.checkBoundary.bind(splitter);
  splitter.checkBoundary = (line) => {
    const own = checkBoundary(line);
    const found = own === false ? outer.find(line, splitter.node) : null;
    if (!found) return own;
    onUnclosed();
    splitter.node = found.within;
    return found.isClosing ? 4 : 3;
  };
  const newNode = splitter.newNode.bind(splitter);
  splitter.newNode = (parent) => {
    newNode(parent);
    const { node } = splitter;
    const add = node.addHeaderChunk.bind(node);
    node.addHeaderChunk = (line) => add(line && escapeRawWords(line));
    const parseHeaders = node.parseHeaders.bind(node);
    let isParsed = false;
    node.parseHeaders = () => {
      if (!isParsed) addDigestType(node);
      isParsed = true;
      parseHeaders();
    };
  };
}
