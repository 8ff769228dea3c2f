// Finds words that a mail hides from the reader, though programs read them. A preheader does not
// count: this hidden text before the first visible word is shown in lists of mail.
import type { Hiding } from './looks.ts';
import { type HtmlReader, readHtml } from './read-html.ts';
import { mostCharacters } from './tokens.ts';

/** Longest preheader in characters. Mail programs show 140 at most. */
const longestPreheader = 200;
/**
 * Fewest hidden words for `hidesWords` to return true. Labels for screen readers and help desks are
 * shorter.
 */
const leastWords = 7;

const word =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}]+/gu;
/** The domain of a mail address, or the beginning of a web address. */
const address = /@[\w-]{1,63}\.\w|https?:\/\/[^\s<>"]{4}/gi;
/** Tag characters and variation selectors, with which text can be written that no font shows. */
const unshown = /[\u{E0020}-\u{E007E}]+|[\u{E0100}-\u{E01EF}]{4,}/gu;

function readUnshown(text: string): string {
  if (!/[\udb40]/.test(text)) return '';
  const found = text.match(unshown) ?? [];
  return found
    .flatMap((run) => [...run, ' '])
    .map((one) => {
      const code = one.codePointAt(0) ?? 32;
      return code < 0xe0000
        ? one
        : String.fromCharCode(code < 0xe0100 ? code - 0xe0000 : code - 0xe0100 + 16);
    })
    .join('');
}

/**
 * Collects each word of a text with the word before, and the addresses. Pairs tell a repeated
 * sentence from a new sentence of the same words.
 */
class Words {
  readonly pairs = new Set<string>();
  readonly addresses = new Set<string>();
  #last = '';

  add(text: string): void {
    const lower = text.toLowerCase();
    for (const [one] of lower.matchAll(word)) {
      this.pairs.add(`${this.#last} ${one}`);
      this.#last = one;
    }
    for (const [one] of lower.matchAll(address)) this.addresses.add(one);
  }

  /** Counts the word pairs of this text that `other` lacks. */
  countBeyond(other: Words): number {
    let count = 0;
    for (const pair of this.pairs) if (!other.pairs.has(pair)) count += 1;
    return count;
  }
}

interface Run {
  text: string;
  hiding: Hiding;
  isBeforeWords: boolean;
}

/** Most comparisons of style rules with elements. Ordinary mail takes a tenth. */
const mostSteps = 400_000;

/**
 * Tells whether the first 256 KB of HTML hide an address, or at least 7 pairs of adjacent words,
 * that the visible text lacks. The words of a short preheader do not count. True for a mail with
 * too much style to read. Takes up to half a second for hostile HTML.
 */
export function hidesWords(html: string): boolean {
  const visible = new Words();
  const runs: Run[] = [];
  const add = (text: string, hiding: Hiding) => {
    const isBeforeWords = visible.pairs.size === 0;
    const last = runs.at(-1);
    if (last && last.hiding === hiding && last.isBeforeWords === isBeforeWords) {
      last.text += ` ${text}`;
    } else runs.push({ text, hiding, isBeforeWords });
  };
  const reader: HtmlReader = {
    text(words, hiding) {
      const unseen = readUnshown(words);
      if (unseen !== '') add(unseen, 'moved');
      if (!hiding) visible.add(words);
      else if (hiding !== 'elsewhere') add(words, hiding);
    },
  };
  const { contents, isTooLarge } = readHtml(html.slice(0, mostCharacters), reader, mostSteps);
  if (isTooLarge) return true;
  for (const one of contents) add(one, 'moved');
  const preheader = new Words();
  const hidden = new Words();
  let length = 0;
  for (const { text, hiding, isBeforeWords } of runs) {
    const isPreheader = isBeforeWords && hiding === 'folded';
    if (isPreheader) length += text.replace(/(?:\s|\p{Cf}|\u034f)+/gu, ' ').trim().length;
    (isPreheader ? preheader : hidden).add(text);
  }
  const hasAddress = [...preheader.addresses, ...hidden.addresses].some(
    (one) => !visible.addresses.has(one),
  );
  const ofPreheader = length > longestPreheader ? preheader.countBeyond(visible) : 0;
  return hasAddress || hidden.countBeyond(visible) + ofPreheader >= leastWords;
}
