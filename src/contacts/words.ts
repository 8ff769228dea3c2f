// The words that a contact is found by: those of its names, in small letters.

/** So many of a contact are kept. */
const mostWords = 12;
const longestWord = 40;

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ascii = /^[\x00-\x7f]*$/;

/** In small letters. Upper case first: as addresses are folded (src/net/address.ts). */
export function foldedName(text: string): string {
  return ascii.test(text) ? text.toLowerCase() : text.toUpperCase().toLowerCase().normalize('NFC');
}

/** The words of these texts, each once; a name may be null. */
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

/** What comes after all texts that begin with `prefix`, in the order of their bytes. */
export function endOfPrefix(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}
