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

const empty = new Set(
  (
    'a an the of in to for from by with on at and or as is are this these its all each ' +
    'return returns tell tells whether'
  ).split(' '),
);

/** Splits `firstWord of_text` into lower-case words, without endings such as `-s` and `-ed`. */
function stemsOf(text: string): string[] {
  return wordsOf(text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' '))
    .map((word) => word.toLowerCase())
    .filter((word) => !empty.has(word))
    .map((word) => word.replace(/(?:ing|es|ed|s|d)$/, '').replace(/e$/, ''));
}

/**
 * Tells whether every word of a comment stands in the line of code beneath. A comment with a
 * figure, a quotation or code says more: it has an example.
 */
export function repeatsCode(comment: string, code: string): boolean {
  if (/[`"\d]/.test(comment)) return false;
  const known = new Set(stemsOf(code));
  return stemsOf(comment).every((stem) => known.has(stem));
}

/** Returns phrases that have a plainer form: an answer has a status, work continues, on its own. */
export function unplainPhrases(text: string): string[] {
  return text.match(/\b(?:is|are)\san?\s[45]\d\d\b|\bgo(?:es)?\son\b|\bby\s(?:it|them)sel/gi) ?? [];
}
