// Joins the text leaves of a parsed MIME tree into a text and an HTML, and keeps the reading order
// for the reply split. Pure.
import { decodeText } from '../mime/charset/charset.ts';
import { cleanLine } from '../mime/headers/header-fields.ts';
import { type ParsingError, parseLimits } from '../mime/parsed-mail.ts';
import { literalMark, withoutMarks } from './marks.ts';
import { joinFlowed } from './reply/flowed.ts';

/**
 * A node of mailparser's tree. Inner nodes have children. Text leaves, and multiparts without
 * parts, have bytes.
 */
export interface TextNode {
  contentType: string | false;
  charset?: string;
  /** Facts about the part; lenient-parser.ts sets `isFlowed` and `text`. */
  node?: {
    isFlowed?: boolean;
    delSp?: boolean;
    filename?: string | false;
    partNr?: (number | string)[] | false;
    /** Bytes of the text after transfer decoding, and whether they were cut. */
    text?: { bytes: Buffer; isCut: boolean };
  };
  children: TextNode[];
}

/**
 * A text of the mail. Alternatives give only the plain text, or the HTML if the plain text has no
 * words.
 */
export interface ReadablePiece {
  kind: 'plain' | 'html';
  /** Text of the piece. In plain text, `literalMark` precedes a `>` that the sender wrote. */
  content: string;
  /** HTML alternative of the plain text. */
  html?: string;
}

export interface TextBody {
  text: string | null;
  html: string | null;
  pieces: ReadablePiece[];
}

interface Leaf extends ReadablePiece {
  isAlternative: boolean;
  isCut: boolean;
}

interface Leaves {
  found: Leaf[];
  faults: ParsingError[];
  deepest: number;
}

const blank = /^\s*$/;

function asHtml({ kind, content }: Leaf): string {
  if (kind === 'html') return content;
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<div style="white-space:pre-wrap">${escaped}</div>`;
}

function cut(
  text: string,
  code: 'text-truncated' | 'html-truncated',
  leaves: readonly Leaf[],
  faults: ParsingError[],
): string {
  const clean = text.replaceAll('\0', '').toWellFormed();
  const isLonger = clean.length > parseLimits.textCharacters;
  if (isLonger || leaves.some(({ isCut }) => isCut)) {
    faults.push({ code, message: `longer than ${parseLimits.textCharacters} characters: cut` });
  }
  if (!isLonger) return clean;
  const end = parseLimits.textCharacters;
  return clean.slice(0, /[\ud800-\udbff]/.test(clean.charAt(end - 1)) ? end - 1 : end);
}

/** Chooses among alternatives: the plain text, or the HTML if the plain text has no words. */
function pickPieces(pieces: ReadablePiece[]): ReadablePiece[] {
  const plain = pieces.filter(({ kind, content }) => kind === 'plain' && !blank.test(content));
  const html = pieces.filter(({ kind }) => kind === 'html').slice(0, 1);
  if (plain.length === 0) return html;
  const [only, ...more] = plain;
  return only && html[0] && more.length === 0 ? [{ ...only, html: html[0].content }] : plain;
}

/** Returns an object with the IMAP number of a part; an empty object for the whole mail. */
export function partNumberOf({ node }: Pick<TextNode, 'node'>): { part?: string } {
  const part = (node?.partNr || []).filter((one) => typeof one === 'number').join('.');
  return part === '' ? {} : { part };
}

function contentOf(
  { node = {}, charset }: TextNode,
  kind: ReadablePiece['kind'],
  faults: ParsingError[],
): string {
  const { bytes, isCut } = node.text ?? { bytes: Buffer.alloc(0), isCut: false };
  const decoded = decodeText(bytes, charset, { isHtml: kind === 'html', isCut });
  // A cut may split a character, which decodes to U+FFFD.
  const whole = withoutMarks(isCut ? decoded.text.replace(/\ufffd{1,3}$/, '') : decoded.text);
  if (!decoded.isKnown) {
    const label = cleanLine(charset ?? '').slice(0, 40);
    const message = `charset ${label} is unknown: read as UTF-8 or Windows-1252`;
    faults.push({ code: 'unknown-charset', message });
  } else if (whole.includes('\ufffd')) {
    const message = 'some bytes are no text in the charset given';
    faults.push({ code: 'undecodable-text', message });
  }
  const text = whole.replaceAll('\r\n', '\n');
  return node.isFlowed && kind === 'plain'
    ? joinFlowed(text, node.delSp === true, literalMark)
    : text;
}

function walk(node: TextNode, depth: number, isAlternative: boolean, out: Leaves): ReadablePiece[] {
  out.deepest = Math.max(out.deepest, depth);
  if (node.children.length > 0) {
    const isChoice = node.contentType === 'multipart/alternative';
    const pieces = node.children.flatMap((child) =>
      walk(child, depth + 1, isChoice || isAlternative, out),
    );
    return isChoice ? pickPieces(pieces) : pieces;
  }
  if (node.node?.text === undefined) return [];
  const isMultipart = node.contentType !== false && node.contentType.startsWith('multipart/');
  if (isMultipart) {
    const message = 'multipart without a usable boundary: read as plain text';
    out.faults.push({ code: 'missing-boundary', message, ...partNumberOf(node) });
  }
  const kind = node.contentType === 'text/html' ? 'html' : 'plain';
  const content = contentOf(node, kind, out.faults);
  // The line end before a delimiter belongs to the delimiter (RFC 2046 5.1.1).
  const own = isMultipart ? content.replace(/\n$/, '') : content;
  const { isCut } = node.node.text;
  out.found.push({ kind, content: withoutMarks(own), isAlternative, isCut });
  return [{ kind, content: own }];
}

/**
 * Joins the text leaves, and cuts each result at 2 million characters. `text` has the plain parts;
 * null without a plain part. `html` has the HTML parts, and between them plain parts without an
 * HTML alternative; null without an HTML part.
 */
export function joinTexts(tree: TextNode | null, faults: ParsingError[]): TextBody {
  if (tree === null) return { text: null, html: null, pieces: [] };
  const out: Leaves = { found: [], faults, deepest: 0 };
  const pieces = walk(tree, 0, false, out);
  if (out.deepest > parseLimits.depth) {
    const message = `parts are nested deeper than ${parseLimits.depth} levels`;
    faults.push({ code: 'nested-too-deep', message });
  }
  const plain = out.found.filter(({ kind }) => kind === 'plain');
  // A plain part beside HTML, as by Apple Mail or in a list footer, must appear in the HTML view.
  const shown = out.found.filter(
    ({ kind, content, isAlternative }) =>
      kind === 'html' || (!isAlternative && !blank.test(content)),
  );
  const hasHtml = shown.some(({ kind }) => kind === 'html');
  const text = plain.map(({ content }) => content).join('\n');
  return {
    text: plain.length > 0 ? cut(text, 'text-truncated', plain, faults) : null,
    html: hasHtml ? cut(shown.map(asHtml).join('\n'), 'html-truncated', shown, faults) : null,
    pieces,
  };
}
