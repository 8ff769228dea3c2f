// The words that find a contact: the words of all names, in lower case.
import { foldCase } from '../../platform/runtime/fold-case.ts';

/** Most words kept of a contact. */
const mostWords = 12;
const longestWord = 40;

/** Returns the words of these texts, each once. A name may be null. */
export function wordsOf(...texts: readonly (string | null)[]): string[] {
  const words = new Set<string>();
  for (const text of texts) {
    if (text === null) continue;
    for (const word of foldCase(text).split(/[^\p{L}\p{M}\p{N}]+/u)) {
      if (word !== '' && words.size < mostWords) words.add(word.slice(0, longestWord));
    }
  }
  return [...words];
}

/** Returns the end of the range of all texts that begin with `prefix`, in byte order. */
export function endOfPrefix(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}
