// Measures of plain words, shared by the tests on comments and on documents: how often a text says
// "who" or "what" in place of a noun, and predicates with "is no". CONTRIBUTING.md, "The change",
// has the rules.

const vague = /^(?:who|whom|whose|what|whatever|whoever)$/i;

/** Files of fewer words have no bound of their own: one "who" would exceed it. */
export const fewWords = 100;

export function wordsOf(text: string): string[] {
  return text.match(/[A-Za-z][A-Za-z']*/g) ?? [];
}

/** Counts "who" and "what" in 1,000 words. */
export function vaguePerThousand(words: readonly string[]): number {
  return (1000 * words.filter((word) => vague.test(word)).length) / Math.max(1, words.length);
}

/** Returns the clauses with "is no" or "is none" as a predicate. */
export function isNoneClauses(text: string): string[] {
  return text.match(/[^.\n]*\b(?:is no|is none)\b[^.\n]*/g) ?? [];
}

const pointing = new Set(['one', 'ones', 'those', 'other', 'others', 'another', 'its']);

/** Returns the words of 1,000 that point at a noun instead of naming it. */
export function pointingPerThousand(words: readonly string[]): number {
  return (1_000 * words.filter((word) => pointing.has(word.toLowerCase())).length) / words.length;
}
