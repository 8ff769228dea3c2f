// The measure of plain words that comments and test titles are held to: CONTRIBUTING.md, "The change".
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** Folders and files of `test/` whose titles and comments are held to plain words. */
export const plainTests = [
  'admission',
  'answering',
  'audit',
  'blocks',
  'cli',
  'config',
  'contacts',
  'conversations',
  'deliveries',
  'docs',
  'domains',
  'e2e',
  'erasing',
  'events',
  'examples',
  'explain',
  'faults',
  'files',
  'first-start.test.ts',
  'http',
];

const vague = /^(?:who|whom|whose|what|whatever|whoever)$/i;

export const wordsOf = (text: string): string[] => text.match(/[A-Za-z][A-Za-z']*/g) ?? [];

/** Counts words like who and what in 1,000 words. */
export const vaguePerThousand = (words: readonly string[]) =>
  (1000 * words.filter((word) => vague.test(word)).length) / Math.max(1, words.length);

/** Finds the sentences with none or no as a predicate. */
export const sentencesOfNone = (text: string): string[] =>
  text.match(/[^.\n]*\b(?:is no|is none)\b[^.\n]*/g) ?? [];

/** Lists the files under a path of the repository that end as `ends` says, or the path itself. */
export function filesUnder(path: string, ends: RegExp): string[] {
  if (ends.test(path)) return [path];
  return readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
    .filter((name) => ends.test(name))
    .map((name) => join(path, name));
}
