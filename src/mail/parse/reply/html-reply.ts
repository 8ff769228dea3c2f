// Converts the HTML of a mail into text for the reply split, with marks (marks.ts) where mail
// programs name a quotation or a signature by class or id. These names do not depend on a language.
import type { Frame, ReadElement } from '../../mime/html/read-html.ts';
import type { Attributes } from '../../mime/html/tokens.ts';
import { type MadeText, makeText, type TextOptions } from '../../mime/html-text.ts';
import { endMark, indentMark, type Mark, marks } from '../marks.ts';

/** Classes (`.`), ids (`#`) and names (`=`) of `<div>` elements, by mark. */
const divisions: Record<Mark, string> = {
  whole:
    '.yahoo_quoted .zmail_extra .mail_android_quote .tutanota_quote .hs_reply .ntes_quote .quoted_mail ' +
    '#OLK_SRC_BODY_SECTION #qt =quote =__HEADERS__ =__QUOTED_TEXT__',
  lead: '.gmail_quote .gmail_attr .protonmail_quote .moz-cite-prefix .iosymail #reply-intro',
  tail:
    '.moz-forward-container .moz-email-headers-table #appendonsend #divRplyFwdMsg ' +
    '#mail-editor-reference-message-container #ms-outlook-mobile-reference-message',
  signature:
    '.gmail_signature .moz-signature .protonmail_signature_block #Signature ' +
    '#ms-outlook-mobile-signature #AppleMailSignature #ymail_android_signature',
};
const markByName = new Map(
  (Object.keys(marks) as Mark[]).flatMap((mark) =>
    divisions[mark].split(' ').map((name) => [name, mark] as const),
  ),
);
/** The line that Outlook draws above the header block of the quoted mail. */
const outlookBorder = /border-top:\s?solid #(?:E1E1E1|B5C4DF)/i;
/** Most characters of an attribute that are read. */
const maxAttribute = 500;

const classesOf = (attributes: Attributes) =>
  attributes.get('class')?.slice(0, maxAttribute).split(/\s+/) ?? [];

function markOfDivision(attributes: Attributes): Mark | null {
  const [id, name, marker] = ['id', 'name', 'data-marker'].map((key) => attributes.get(key));
  const names = [id && `#${id}`, name && `=${name}`, marker && `=${marker}`];
  for (const one of [...names, ...classesOf(attributes).map((each) => `.${each}`)]) {
    const mark = one && markByName.get(one);
    if (mark) return mark;
  }
  const style = attributes.get('style');
  return style && outlookBorder.test(style.slice(0, maxAttribute)) ? 'tail' : null;
}

/** A quotation or signature with its mark, or a blockquote. */
interface Part extends Frame {
  outer: Part | null;
  /** Mark of the part; null for a blockquote. */
  mark: Mark | null;
  depth: number;
}

/** Most nested parts; deeper text belongs to the part at this depth. */
const mostDepth = 20;

const marksBySelector = new Map<string, Mark>(
  Object.entries({
    'span.gmail_signature_prefix': 'signature',
    'pre.moz-signature': 'signature',
    'p.yahoo-quoted-begin': 'lead',
    'hr#stopSpelling': 'tail',
    'hr#zwchr': 'tail',
    'table.moz-email-headers-table': 'tail',
  }),
);
const markedNames = new Set([...marksBySelector.keys()].map((one) => one.split(/[.#]/, 1)[0]));

/**
 * Returns the mark of an element: a `<div>` is recognized by id, name, class or border, any further
 * element by element name with id or class.
 */
function markOf({ name, attributes }: ReadElement): Mark | null {
  if (attributes.size === 0) return null;
  if (name === 'div') return markOfDivision(attributes);
  if (!markedNames.has(name)) return null;
  const own = [`#${attributes.get('id') ?? ''}`, ...classesOf(attributes).map((one) => `.${one}`)];
  for (const one of own) {
    const mark = marksBySelector.get(name + one);
    if (mark) return mark;
  }
  return null;
}

/** Classes by which mail programs mark a blockquote as a citation. */
const citeClass =
  /^(?:(?:gmail|protonmail|tutanota|yahoo|mail|airmail|spark|zmail|hey|ntes|missive|msg)[-_]quoted?|gmail_quote_container|front-blockquote|iosymail|mori|clean_bq|cite)$/i;

/** Returns true if the blockquote is marked as a citation; an indented paragraph is not. */
function isCited(attributes: Attributes): boolean {
  if (attributes.get('type')?.trim().toLowerCase() === 'cite') return true;
  if (/^\s*[mc]id:/i.test(attributes.get('cite') ?? '')) return true;
  return classesOf(attributes).some((one) => citeClass.test(one));
}

const isIndented = (part: Part) => part.prefix.endsWith(`${indentMark} `);

function prefixOf({ attributes }: ReadElement, outer: Part | null, isAnswer: boolean): string {
  const isWithin = outer !== null && !isIndented(outer);
  const isQuoted = isAnswer || isWithin || isCited(attributes);
  return `${outer?.prefix ?? ''}${isQuoted ? '>' : indentMark} `;
}

/** Returns the marks between two parts: first the ends of parts, then the beginnings. */
function marksBetween(from: Part | null, to: Part | null): string[] {
  const around = new Set<Part>();
  for (let one = to; one; one = one.outer) around.add(one);
  const ends: string[] = [];
  let common = from;
  for (; common && !around.has(common); common = common.outer) if (common.mark) ends.push(endMark);
  const begins: string[] = [];
  for (let one = to; one && one !== common; one = one.outer) {
    if (one.mark) begins.unshift(marks[one.mark]);
  }
  return [...ends, ...begins];
}

/**
 * Sets `element.frame` if the element begins a part. Returns the mark `tail` if all text from the
 * element on is quoted, else [].
 */
function enter(element: ReadElement, isAnswer: boolean): readonly string[] {
  const outer = element.frame as Part | null;
  const depth = (outer?.depth ?? 0) + 1;
  if (element.name === 'blockquote') {
    if (depth > mostDepth) return [];
    element.frame = {
      prefix: prefixOf(element, outer, isAnswer),
      outer,
      mark: null,
      depth,
    } as Part;
    return [];
  }
  // Marks in a blockquote belong to an older mail.
  if (outer && outer.prefix !== '') return [];
  const mark = markOf(element);
  if (mark === 'tail') return [marks.tail];
  if (mark && depth <= mostDepth) element.frame = { prefix: '', outer, mark, depth } as Part;
  return [];
}

/** Returns the options to convert HTML with marks. */
function withParts(isAnswer: boolean): TextOptions {
  return {
    link: () => '',
    bullet: ' * ',
    withoutPictures: true,
    open: (element) => enter(element, isAnswer),
    between: (from, to) => marksBetween(from as Part | null, to as Part | null),
  };
}

/**
 * Converts the visible words of HTML to about `most` characters of text, with marks and with `> `
 * before quoted lines. `isAnswer`: the mail is an answer, so that all blockquotes are quotations.
 */
export function makeMarkedText(html: string, isAnswer: boolean, most: number): MadeText {
  const made = makeText(html, { ...withParts(isAnswer), most });
  return { ...made, text: made.text.trimEnd() };
}

/** Converts HTML to text like `makeMarkedText`, of any length and for an answer. */
export const htmlToText = (html: string) =>
  makeMarkedText(html, true, Number.POSITIVE_INFINITY).text;
