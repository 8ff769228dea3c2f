// Tables that fit the width of a terminal. Long texts are shortened in the middle, so that the ends
// of a path stay. Ids, times and addresses stay whole. Columns without space move to further lines.
// An address wider than a line is wrapped. Pure.
import { stripVTControlCharacters } from 'node:util';

/** Space between two columns. */
const gap = 2;
/** Least width of a column: a narrower value is useless. */
const leastWidth = 6;

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function charactersOf(text: string): string[] {
  return [...graphemes.segment(text)].map(({ segment }) => segment);
}

function widthOf(character: string): number {
  return wide.test(character) ? 2 : 1;
}

/** Returns the number of terminal columns that a text takes. */
export function displayWidth(text: string): number {
  const plain = stripVTControlCharacters(text);
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length;
  return charactersOf(plain).reduce((sum, character) => sum + widthOf(character), 0);
}

/** Returns the first of these characters that fit into `width`. */
function firstThatFit(characters: readonly string[], width: number): string[] {
  const kept: string[] = [];
  let left = width;
  for (const character of characters) {
    left -= widthOf(character);
    if (left < 0) break;
    kept.push(character);
  }
  return kept;
}

/** Cuts a text without colours to `width` columns: `…` replaces the middle. */
export function shortenedTo(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  const characters = charactersOf(text);
  const head = firstThatFit(characters, Math.ceil((width - 1) / 2));
  const tail = firstThatFit(characters.toReversed(), Math.floor((width - 1) / 2)).reverse();
  return `${head.join('')}…${tail.join('')}`;
}

/** A text column is narrowed to this width before it moves to a separate line. */
const comfortableWidth = 16;

/** Indent of the further lines of a row. */
export const rowIndent = 2;

const anId = /\b[a-z]{2,20}_[0-9a-hjkmnp-tv-z]{16,24}\b/;

/** Returns true if the text contains an id: a shortened id could not be copied. */
export function hasId(text: string): boolean {
  return anId.test(text);
}

const anAddress = /[^\s@<>]@[^\s@<>]/;

/** Returns true if the text contains an email address: a shortened address would be useless. */
export function hasAddress(text: string): boolean {
  return anAddress.test(text);
}

/** Wraps a text without colours between words; a word that is wider than `width` is divided. */
export function wrappedTo(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    const longer = line === '' ? word : `${line} ${word}`;
    if (displayWidth(longer) <= width) {
      lines[lines.length - 1] = longer;
      continue;
    }
    if (line === '') lines.pop();
    let rest = charactersOf(word);
    while (rest.length > 0) {
      const part = firstThatFit(rest, Math.max(width, 2));
      lines.push(part.join(''));
      rest = rest.slice(part.length);
    }
  }
  return lines;
}

/** Returns the width of a line with the columns `at`, including the gaps between them. */
function widthOfLine(widths: readonly number[], at: readonly number[]): number {
  return at.reduce((sum, index) => sum + (widths[index] ?? 0), gap * (at.length - 1));
}

/**
 * Distributes columns over the lines of a row. Columns in `whole` need their natural width, the
 * remaining columns a comfortable width. A column without space begins the next line.
 */
export function linesOfRow(
  natural: readonly number[],
  width: number,
  whole: ReadonlySet<number>,
): number[][] {
  const least = natural.map((one, at) => (whole.has(at) ? one : Math.min(one, comfortableWidth)));
  const lines: number[][] = [];
  for (const at of natural.keys()) {
    const line = lines.at(-1);
    const room = lines.length > 1 ? width - rowIndent : width;
    if (line && widthOfLine(least, [...line, at]) <= room) line.push(at);
    else lines.push([at]);
  }
  return lines;
}

/**
 * Returns the widths of columns. Narrows the widest columns, to 6 at least, until the line fits
 * `width`; columns in `whole` stay.
 */
export function fittingWidths(
  natural: readonly number[],
  width: number,
  whole: ReadonlySet<number> = new Set(),
): number[] {
  const widths = [...natural];
  const all = [...natural.keys()];
  while (widthOfLine(widths, all) > width) {
    const widest = Math.max(...widths.filter((_, at) => !whole.has(at)));
    if (widest <= leastWidth) break;
    const at = widths.findIndex((one, index) => one === widest && !whole.has(index));
    widths[at] = widest - 1;
  }
  return widths;
}

const words: Readonly<Record<string, string>> = {
  id: 'ID',
  attemptCount: 'Tries',
  errorMessage: 'Error',
  messageId: 'Message',
  'identities.identifier': 'Address',
  unsubscribeGroupId: 'Group',
  organizationId: 'Organization',
  lastWords: 'Said',
  enhancedCode: 'Enhanced',
};

/** Returns the heading of a column for people: `createdAt` is Created, `from.email` From. */
export function headingOf(field: string): string {
  const name = field.replace(/\.(?:email|name)$/, '');
  const known = words[name];
  if (known) return known;
  const spaced = (name.split('.').at(-1) ?? name)
    .replace(/(?<=[a-z])At$/, '')
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

export function isInstant(value: unknown): boolean {
  return typeof value === 'string' && instant.test(value);
}

/**
 * Formats an instant of the API in `timeZone` (default: this machine's), to the second. Returns a
 * different text unchanged.
 */
export function localTime(text: string, timeZone?: string): string {
  if (!instant.test(text)) return text;
  // The Swedish locale writes ISO 8601 with a space.
  return new Date(text).toLocaleString('sv-SE', { timeZone });
}
