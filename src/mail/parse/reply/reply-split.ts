// Splits a text into the sender's own words and quotations (specification 2.2). Quoted are `>`
// lines with the attribution above them (attribution.ts), the text below the header block of a
// quoted or forwarded mail (header-block.ts), and elements that mail programs mark in HTML
// (html-reply.ts). A signature (signature.ts) belongs to neither.
//
// The scan is linear.

import { indentMark, readMarks, withoutMarks } from '../marks.ts';
import { findAttribution, findBareAttribution } from './attribution.ts';
import { findQuotedTail, isForwardRule } from './header-block.ts';
import { findSignature } from './signature.ts';

export interface ReplySplit {
  newContent: string;
  quotedContent: string | null;
  hasQuotedContent: boolean;
  /** Signatures and lines added by programs, which are in neither content. */
  signature: string | null;
}

/** Facts in the header of the mail about its text. */
export interface ReplyFacts {
  /** Whether the mail has In-Reply-To or References. */
  isAnswer: boolean;
  /** Whether the subject has a reply or forward mark, or the mail is an answer. */
  hasSubjectMark: boolean;
  /** Whether the text was made from HTML, so that `>` stands for a blockquote. */
  isHtml?: boolean;
}

/** Facts assumed for a text without a header. */
const answered: ReplyFacts = { isAnswer: true, hasSubjectMark: true };

type Kind = 'own' | 'quoted' | 'signature';

const quotedLine = /^[ \t]{0,3}[>＞]/;
/**
 * A quoted line: it begins with `| `, or with the author's initials: `JD> `. A line that also ends
 * in a bar is the row of a table.
 */
const barLine = /^[ \t]{0,3}(?:\|(?:$|[^|\n]*[^|\s]\s*$|\s*$)|[A-Z]{1,4}> )/;
const blankLine = /^\s*$/;
const lineEnd = /\r\n|\r|\n/;

const isBlank = (line: string | undefined) => line === undefined || blankLine.test(line);
const isMarked = (line: string) => quotedLine.test(line);
const isBar = (lines: readonly string[], at: number) => barLine.test(lines[at] ?? '');

/**
 * Returns the line of the first rule (`------- Original Message -------`) in the rules directly
 * above `start`; `start` without rules.
 */
function withRules(lines: readonly string[], start: number): number {
  let first = start;
  for (
    let at = start - 1;
    at >= 0 && (isBlank(lines[at]) || isForwardRule(lines[at] ?? ''));
    at -= 1
  ) {
    if (!isBlank(lines[at])) first = at;
  }
  return first;
}

/**
 * Marks the attribution directly above each quoted block. Lines with bars are quoted only below an
 * attribution.
 */
function markAttributions(lines: readonly string[], end: number, kinds: Kind[]): void {
  const isQuoted = (at: number) => kinds[at] === 'quoted';
  for (let at = 0; at < end; at += 1) {
    if (isQuoted(at) && !isQuoted(at - 1)) {
      const start = findAttribution(lines, at, isQuoted, 'marks');
      if (start !== null) kinds.fill('quoted', withRules(lines, start), at);
    } else if (!isQuoted(at) && isBar(lines, at) && !isBar(lines, at - 1)) {
      const start = findAttribution(lines, at, isQuoted, 'bars');
      if (start === null) continue;
      let last = at;
      while (last + 1 < end && isBar(lines, last + 1)) last += 1;
      kinds.fill('quoted', start, last + 1);
    }
  }
}

/** Marks the signature at the end of each run of the sender's own lines. */
function markSignatures(lines: readonly string[], kinds: Kind[]): void {
  let start = 0;
  for (let at = 0; at <= lines.length; at += 1) {
    if (at < lines.length && kinds[at] === 'own') continue;
    if (at > start) kinds.fill('signature', findSignature(lines, start, at), at);
    start = at + 1;
  }
}

const isIndented = (line: string | undefined) => line?.startsWith(indentMark) === true;
const indents = new RegExp(`${indentMark} ?`, 'g');

/**
 * Decides on blocks that the sender may have indented: below an attribution they are quoted,
 * elsewhere words of the sender.
 */
function resolveIndents(lines: string[]): void {
  const isQuoted = (at: number) => isMarked(lines[at] ?? '');
  for (let at = 0; at < lines.length; at += 1) {
    if (!isIndented(lines[at])) continue;
    const isCited = (['all', 'bars'] as const).some(
      (mark) => findAttribution(lines, at, isQuoted, mark) !== null,
    );
    for (; isIndented(lines[at]); at += 1) {
      lines[at] = (lines[at] ?? '').replace(indents, isCited ? '> ' : '');
    }
    at -= 1;
  }
}

/** Joins the lines, without marks (marks.ts) and without empty lines at both ends. */
const tidy = (lines: readonly string[]) =>
  withoutMarks(lines.join('\n'))
    .replace(/^\s*\n/, '')
    .trimEnd();

const pick = (lines: readonly string[], kinds: readonly Kind[], wanted: Kind) =>
  tidy(lines.filter((_, at) => kinds[at] === wanted));

const orNull = (text: string) => (text.trim() === '' ? null : text);

/**
 * Splits `text` (line ends of any kind). `newContent` is empty only for an answer in which all
 * lines are quoted. A mail that was forwarded without words, or that is only a quotation or a
 * signature, is new content as a whole.
 */
export function splitReply(text: string, facts = answered): ReplySplit {
  const { lines, declared } = readMarks(text.split(lineEnd));
  resolveIndents(lines);
  const tail = findQuotedTail(lines, facts.hasSubjectMark);
  const kinds = lines.map((line, at): Kind => {
    const isQuoted = at >= tail || isMarked(line);
    return isQuoted ? 'quoted' : (declared[at] ?? 'own');
  });
  markAttributions(lines, tail, kinds);
  const isQuoted = (at: number) => kinds[at] === 'quoted';
  const bare = findBareAttribution(lines, tail, isQuoted);
  if (bare !== null) kinds.fill('quoted', withRules(lines, bare));
  markSignatures(lines, kinds);
  const newContent = pick(lines, kinds, 'own');
  const quotedContent = orNull(pick(lines, kinds, 'quoted'));
  const signature = orNull(pick(lines, kinds, 'signature'));
  if (newContent.trim() === '') {
    const isForward = tail < lines.length || bare !== null || !lines.some(isMarked);
    if (isForward) return whole(lines);
    const quotation = soleQuotation(lines, facts);
    if (quotation) return whole(quotation);
  }
  return { newContent, quotedContent, hasQuotedContent: quotedContent !== null, signature };
}

/**
 * Returns the lines of a mail that is a single quotation; for HTML without the marks of the
 * blockquote. Returns null for a mail with unquoted words, for a plain-text answer, and for HTML
 * with an attribution in the quotation.
 */
function soleQuotation(lines: readonly string[], facts: ReplyFacts): readonly string[] | null {
  if (!lines.every((line) => isBlank(line) || isMarked(line))) return null;
  if (!facts.isHtml) return facts.isAnswer ? null : lines;
  const words = lines.map((line) => line.replace(/^> ?/, ''));
  return findBareAttribution(words, words.length, () => false) === null ? words : null;
}

function whole(lines: readonly string[]): ReplySplit {
  const newContent = tidy(lines);
  return { newContent, quotedContent: null, hasQuotedContent: false, signature: null };
}

/** Returns a text without a split, in the form of `newContent`. */
export const wholeText = (text: string) => tidy(readMarks(text.split(lineEnd)).lines);
