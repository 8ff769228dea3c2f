// Tables that fit the width of a terminal: long values are shortened in their middle, so that the ends of
// an id, an address or a path stay; no line wraps. Pure.
import { stripVTControlCharacters } from 'node:util';

/** Between two columns. */
const gap = 2;
/** Narrower than this a value says nothing. */
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

/** Columns that the text takes on a terminal. */
export function displayWidth(text: string): number {
  const plain = stripVTControlCharacters(text);
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length;
  return charactersOf(plain).reduce((sum, character) => sum + widthOf(character), 0);
}

/** Characters of one end that fit, in order. */
function taken(characters: readonly string[], width: number): string[] {
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
  const head = taken(characters, Math.ceil((width - 1) / 2));
  const tail = taken(characters.toReversed(), Math.floor((width - 1) / 2)).reverse();
  return `${head.join('')}…${tail.join('')}`;
}

/**
 * Returns column widths, the widest narrowed until a line fits `width`; columns in `kept` are narrowed last.
 */
export function fittingWidths(
  natural: readonly number[],
  width: number,
  kept: ReadonlySet<number> = new Set(),
): number[] {
  const widths = [...natural];
  const excess = () => widths.reduce((sum, one) => sum + one, gap * (widths.length - 1)) - width;
  for (const spared of [kept, new Set<number>()]) {
    while (excess() > 0) {
      const widest = Math.max(...widths.filter((_, at) => !spared.has(at)));
      if (widest <= leastWidth) break;
      const at = widths.findIndex((one, index) => one === widest && !spared.has(index));
      widths[at] = widest - 1;
    }
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

/** An instant of the API by the clock of this machine, to the second; other text as it is. */
export function localTime(text: string): string {
  if (!instant.test(text)) return text;
  // Sweden writes ISO 8601 with a space.
  return new Date(text).toLocaleString('sv-SE');
}
