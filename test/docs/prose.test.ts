// Documents are in plain words (CONTRIBUTING.md, "The change"): they name the noun, and their
// sentences are short. Comments of the code: comments.test.ts.
import { globSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { repository } from '../support/cli.ts';
import { readMarkdown } from './markdown.ts';
import {
  fewWords,
  isNoneClauses,
  unplainPhrases,
  vaguePerThousand,
  wordsOf,
} from './plain-words.ts';

const mostVague = 5;
const mostVagueOfPage = 8;
const mostWordsOfSentence = 30;

const pages = [
  ...readdirSync(repository).filter((name) => name.endsWith('.md')),
  ...globSync('docs/**/*.md', { cwd: repository }).sort(),
].map((file) => ({ file, text: proseOf(file) }));

/**
 * Returns a page without fences, code spans, targets of links, and headings that ask a question.
 * Summaries of commands and descriptions of fields are held by the tests of their sources.
 */
function proseOf(file: string): string {
  return readMarkdown(file)
    .prose.filter((line) => !/^#.*\?$/.test(line))
    .join('\n')
    .replaceAll(/<!-- npm run docs: (?:commands|fields) -->.*?<!-- end -->/gs, '')
    .replaceAll(/`[^`]*`/g, '``')
    .replaceAll(/\]\([^)]*\)/g, ']');
}

/** Returns the paragraphs, entries of lists and cells of tables of a page, each in one line. */
function blocksOf(text: string): string[] {
  return text
    .split(/\n{2,}|\n(?=\s*(?:[-#|]|\d+\.))|\|/)
    .map((block) => block.replaceAll(/\s+/g, ' ').trim());
}

it('documents name the noun: few say who or what', () => {
  expect(pages.length).toBeGreaterThan(30);
  const words = pages.map(({ file, text }) => ({ file, words: wordsOf(text) }));
  expect(vaguePerThousand(words.flatMap((page) => page.words))).toBeLessThan(mostVague);
  const vague = words
    .filter((page) => page.words.length > fewWords)
    .map((page) => [page.file, vaguePerThousand(page.words)] as const)
    .filter(([, figure]) => figure > mostVagueOfPage);
  expect(vague).toEqual([]);
});

it('documents have no "is none" and no "is no" as a predicate', () => {
  const bad = pages.flatMap(({ file, text }) =>
    blocksOf(text)
      .flatMap(isNoneClauses)
      .map((clause) => `${file}: ${clause}`),
  );
  expect(bad).toEqual([]);
});

it('documents say that an answer has a status, and that work continues on its own', () => {
  const bad = pages.flatMap(({ file, text }) =>
    blocksOf(text)
      .flatMap(unplainPhrases)
      .map((phrase) => `${file}: ${phrase}`),
  );
  expect(bad).toEqual([]);
});

it('no sentence of a document has more than 30 words', () => {
  const words = (sentence: string) => sentence.split(' ').filter((word) => /[\w`]/.test(word));
  const sentences = pages.flatMap(({ file, text }) =>
    blocksOf(text)
      .flatMap((block) => block.split(/(?<=[.!?][)"*]*) /))
      .map((sentence) => ({ file, sentence, words: words(sentence).length })),
  );
  expect(sentences.length).toBeGreaterThan(3_000);
  expect(sentences.filter((one) => one.words > mostWordsOfSentence)).toEqual([]);
});
