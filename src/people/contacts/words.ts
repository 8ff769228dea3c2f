// The words that find a contact: the words of all names, in lower case.

/** Most words kept of a contact. */
const mostWords = 12;
const longestWord = 40;

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ascii = /^[\x00-\x7f]*$/;

/**
 * Folds to lower case. Goes through upper case first, as addresses are folded
 * (src/platform/net/address.ts).
 */
export function foldedName(text: string): string {
  return ascii.test(text) ? text.toLowerCase() : text.toUpperCase().toLowerCase().normalize('NFC');
}

/** Returns the words of these texts, each once. A name may be null. */
export function wordsOf(...texts: readonly (string | null)[]): string[] {
  const words = new Set<string>();
  for (const text of texts) {
    if (text === null) continue;
    for (const word of foldedName(text).split(/[^\p{L}\p{M}\p{N}]+/u)) {
      if (word !== '' && words.size < mostWords) words.add(word.slice(0, longestWord));
    }
  }
  return [...words];
}

/** Returns the end of the range of all texts that begin with `prefix`, in byte order. */
export function endOfPrefix(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}
