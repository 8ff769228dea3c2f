// The words by which a search finds a contact: the words of the names, in folded case.
import { foldCase } from '../../platform/runtime/fold-case.ts';

/** Most words of a contact in the index. */
const mostWords = 12;
const longestWord = 40;

/** Returns the first 12 different words of these texts, each cut to 40 characters. */
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
