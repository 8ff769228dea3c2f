// Tokenizer of documents and queries for SQLite and PostgreSQL, so that both find the same
// documents.
//
//   text                      | words
//   --------------------------+--------------------------------------------------------------------
//   letters, marks and digits | a word: NFKC, case folded, without diacritics, 64 characters
//   scripts without spaces    | pairs of characters, then the last: 東京都 is 東京, 京都, 都
//   anything else             | stands between words

/** Longest word; longer words are cut. A SHA-256 in hexadecimal stays whole. */
export const wordCharacters = 64;

/**
 * Marks to remove: accents, Hebrew and Arabic vowel points, and invisible characters. Vowel signs
 * of scripts such as Devanagari and Thai stay, because readers take the signs for letters.
 */
const diacritics =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each of them is meant alone
  /[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u20d0-\u20ff\u2060\ufe00-\ufe0f\ufe20-\ufe2f\ufeff]/g;
/** Letters that no normal form decomposes, with the letters to index instead. */
const strokes: Readonly<Record<string, string>> = {
  æ: 'ae',
  ð: 'd',
  ø: 'o',
  þ: 'th',
  đ: 'd',
  ħ: 'h',
  ł: 'l',
  œ: 'oe',
  ŧ: 't',
  ς: 'σ',
};
const stroked = /[æðøþđħłœŧς]/g;

/**
 * Matches a run of more than 30 combining marks, the limit of stream-safe text (UAX #15). No
 * language has such runs, and normalization sorts a run in quadratic time: 200,000 marks took 9 s.
 * Includes sound marks of half width (U+FF9E, U+FF9F) and the vowels U+0E33 and U+0EB3, letters
 * that NFKD turns into marks.
 */
const excessMarks = /([\p{M}\u0e33\u0eb3\uff9e\uff9f]{30})[\p{M}\u0e33\u0eb3\uff9e\uff9f]+/gu;
const withoutExcess = (text: string) => text.replace(excessMarks, '$1');

/** Tells whether the text is ASCII: every further character takes more than one byte. */
export const isAscii = (text: string) => Buffer.byteLength(text) === text.length;

/**
 * Folds a text: NFKC, full case folding, without diacritics, at most 30 marks in a run. Folding
 * twice changes nothing. Takes linear time; a character may become 18 characters.
 */
export function folded(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  const bare = withoutExcess(text).normalize('NFKD').replace(diacritics, '');
  // Upper case comes first, so that `ß` equals `ss`, and the dotless ı equals i.
  return withoutExcess(withoutExcess(bare).toUpperCase().toLowerCase())
    .normalize('NFKD')
    .replace(diacritics, '')
    .replace(stroked, (letter) => strokes[letter] ?? letter)
    .normalize('NFC');
}

/** Characters of scripts without spaces: CJK, and scripts of South-East Asia. */
const unspaced = ['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul', 'Thai', 'Lao', 'Khmer']
  .concat('Myanmar', 'Yi')
  .map((script) => `\\p{scx=${script}}`)
  .join('');
const paired = `[[${unspaced}]&&[\\p{L}\\p{M}]]`;
/** Matches a run of letters: of scripts without spaces (then also in group 1), or of the rest. */
const runs = new RegExp(`(${paired}+)|[[\\p{L}\\p{M}\\p{N}]--${paired}]+`, 'gv');

/** Matches runs in a folded ASCII text, in a fifth of the time of `runs`. */
const asciiRuns = /[a-z0-9]+/g;

/** Returns up to `most` words of a folded text, in order. */
export function wordsOf(text: string, most = Number.POSITIVE_INFINITY): string[] {
  if (isAscii(text)) return (text.match(asciiRuns) ?? []).slice(0, most).map(cut);
  const words: string[] = [];
  for (const [word, characters] of text.matchAll(runs)) {
    if (characters) pairs(words, characters, most);
    else words.push(cut(word));
    if (words.length >= most) return words.slice(0, most);
  }
  return words;
}

function pairs(words: string[], run: string, most: number): void {
  let before = '';
  for (const character of run) {
    if (words.length >= most) return;
    if (before !== '') words.push(before + character);
    before = character;
  }
  words.push(before);
}

function cut(word: string): string {
  return word.length > wordCharacters ? word.slice(0, wordCharacters).toWellFormed() : word;
}

/** Consecutive words of a query. With `isPrefix` the last word is only the beginning of a word. */
export interface Phrase {
  words: readonly string[];
  isPrefix: boolean;
}

const endsPaired = new RegExp(`${paired}$`, 'v');

/** Tells whether a word ends in a script without spaces. Such a word has at most two characters. */
export function isUnspaced(word: string): boolean {
  return endsPaired.test(word);
}

/**
 * Makes a phrase from a folded text. In scripts without spaces, the last word may be the beginning
 * of a longer run.
 */
export function phraseOf(text: string, isPrefix = false): Phrase {
  const words = wordsOf(text);
  const last = words.at(-1) ?? '';
  if (!isUnspaced(last)) return { words, isPrefix };
  // A single last character would match only the end of a run, so it is kept only if it is the sole
  // word.
  const before = words.at(-2) ?? '';
  const isInPair = before.length > last.length && before.endsWith(last);
  return isInPair ? { words: words.slice(0, -1), isPrefix } : { words, isPrefix: true };
}

const localPart = /(?<![\p{L}\p{M}\p{N}._+-])[.-]*([\p{L}\p{M}\p{N}_+][\p{L}\p{M}\p{N}._+-]*)$/u;
const domain = /[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}-]*(?:\.[\p{L}\p{M}\p{N}-]+)+/uy;
const localCharacters = 64;
const domainCharacters = 253;

/** Returns the distinct mail addresses in a folded text, up to `most`. */
export function addressesIn(text: string, most: number): Set<string> {
  const found = new Set<string>();
  for (let at = text.indexOf('@'); at >= 0 && found.size < most; at = text.indexOf('@', at + 1)) {
    const right = text.slice(at + 1, at + 1 + domainCharacters);
    domain.lastIndex = 0;
    const host = domain.exec(right)?.[0];
    if (!host) continue;
    const local = localPart.exec(text.slice(Math.max(0, at - localCharacters), at))?.[1];
    if (local) found.add(`${local}@${host}`);
  }
  return found;
}
