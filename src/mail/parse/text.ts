// Joins the text leaves of a parsed MIME tree into one text and one HTML, and keeps the reading order for the
// reply split. Pure.
import libmime from 'libmime';
import { cleanLine } from '../mime/header-fields.ts';
import { type ParsingError, parseLimits } from '../mime/parsed-mail.ts';
import { joinFlowed } from './flowed.ts';
import { literalMark, withoutMarks } from './marks.ts';

/** A node of mailparser's tree: inner nodes have children, text leaves have `textContent`. */
export interface TextNode {
  contentType: string | false;
  charset?: string;
  textContent?: string;
  /** Facts about the part; lenient-parser.ts sets `isFlowed` and `isCut`. */
  node?: { isFlowed?: boolean; delSp?: boolean; isCut?: boolean };
  children: TextNode[];
}

/** A piece of the mail in reading order; of alternatives the plain one if it has words. */
export interface ReadablePiece {
  kind: 'plain' | 'html';
  /** In plain text, `literalMark` stands before a `>` that the sender wrote. */
  content: string;
  /** The HTML of which the plain text is an alternative. */
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

function checkCharset({ charset }: TextNode, content: string, faults: ParsingError[]): void {
  if (charset !== undefined && !isKnownCharset(charset)) {
    const message = `charset ${cleanLine(charset).slice(0, 40)} is unknown: read as UTF-8`;
    faults.push({ code: 'unknown-charset', message });
  } else if (content.includes('\ufffd')) {
    faults.push({
      code: 'undecodable-text',
      message: 'some bytes are no text in the charset given',
    });
  }
}

function isKnownCharset(charset: string): boolean {
  try {
    new TextDecoder(libmime.normalizeCharset(charset));
    return true;
  } catch {
    return /^(?:us-)?ascii$|^7bit$|^utf-?7|^ansi|^cp\d+$|^ibm\d+$|^mac/i.test(charset);
  }
}

/** Chooses among alternatives: the plain leaf, or the HTML if the plain one has no words. */
function pickPieces(pieces: ReadablePiece[]): ReadablePiece[] {
  const plain = pieces.filter(({ kind, content }) => kind === 'plain' && !blank.test(content));
  const html = pieces.filter(({ kind }) => kind === 'html').slice(0, 1);
  if (plain.length === 0) return html;
  const [only, ...more] = plain;
  return only && html[0] && more.length === 0 ? [{ ...only, html: html[0].content }] : plain;
}

function contentOf(
  text: string,
  { isFlowed, delSp, isCut }: NonNullable<TextNode['node']>,
): string {
  // The cut may fall within a character.
  const whole = withoutMarks(isCut ? text.replace(/\ufffd{1,3}$/, '') : text);
  return isFlowed ? joinFlowed(whole, delSp === true, literalMark) : whole;
}

function walk(node: TextNode, depth: number, isAlternative: boolean, out: Leaves): ReadablePiece[] {
  out.deepest = Math.max(out.deepest, depth);
  if (depth > parseLimits.depth) return [];
  if (node.contentType === 'multipart/alternative') {
    return pickPieces(node.children.flatMap((child) => walk(child, depth + 1, true, out)));
  }
  if (node.children.length > 0) {
    return node.children.flatMap((child) => walk(child, depth + 1, isAlternative, out));
  }
  if (node.textContent === undefined) return [];
  const content = contentOf(node.textContent, node.node ?? {});
  checkCharset(node, content, out.faults);
  const kind = node.contentType === 'text/html' ? 'html' : 'plain';
  const isCut = node.node?.isCut === true;
  out.found.push({ kind, content: withoutMarks(content), isAlternative, isCut });
  return [{ kind, content }];
}

/**
 * Joins the leaves, each result cut at 2 MB and null without leaves of its kind. `text` has the plain parts.
 * `html` has the HTML parts, and between them the plain parts that are not their alternatives.
 */
export function joinTexts(tree: TextNode | null, faults: ParsingError[]): TextBody {
  if (tree === null) return { text: null, html: null, pieces: [] };
  const out: Leaves = { found: [], faults, deepest: 0 };
  const pieces = walk(tree, 0, false, out);
  if (out.deepest > parseLimits.depth) {
    const message = `parts nested deeper than ${parseLimits.depth} levels are left out`;
    faults.push({ code: 'nested-too-deep', message });
  }
  const plain = out.found.filter(({ kind }) => kind === 'plain');
  // A plain part beside HTML (Apple Mail, list footers) must stay in the HTML view.
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
