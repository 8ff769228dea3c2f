// Titles of tests are plain sentences, as comments are: comments.test.ts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { filesUnder, plainTests, unquoted } from './plain-tests.ts';
import { isNoneClauses, unplainPhrases, vaguePerThousand, wordsOf } from './plain-words.ts';

const root = join(import.meta.dirname, '..', '..');
const mostVague = 3;
/** Functions that take a title first, also behind `.each(…)`, `.skipIf(…)` and the like. */
const titled = new Set(['describe', 'it', 'test']);

/** Returns the name at the root of `it.each(rows)`, `describe.skipIf(never)` or `test`. */
function callee(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isTaggedTemplateExpression(node)) return callee(node.tag);
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) {
    return callee(node.expression);
  }
  return '';
}

const isTitle = (node: ts.Node | undefined): node is ts.Expression =>
  node !== undefined && (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node));

/** Collects the titles of a file, without placeholders and quoted words. */
function titlesOf(file: string): string[] {
  const titles: string[] = [];
  const text = readFileSync(join(root, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && titled.has(callee(node.expression))) {
      const title = node.arguments[0];
      if (isTitle(title)) {
        const written = title.getText(source).slice(1, -1);
        titles.push(unquoted(written.replace(/\$\{[^}]*\}|%[a-z]|\$[\w.]+/g, '…')));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

const files = plainTests.flatMap((part) => filesUnder(join('test', part), /\.test\.ts$/));
const titles = files.flatMap((file) => titlesOf(file).map((title) => ({ file, title })));

it('titles of tests name the noun', () => {
  const words = titles.flatMap(({ title }) => wordsOf(title));
  expect(words.length).toBeGreaterThan(5 * files.length);
  expect(vaguePerThousand(words)).toBeLessThan(mostVague);
});

it('titles of tests have neither none nor no as a predicate', () => {
  const bad = titles.filter(({ title }) => isNoneClauses(title).length > 0);
  expect(bad).toEqual([]);
});

it('titles of tests say that an answer has a status, and that work continues on its own', () => {
  const bad = titles.filter(({ title }) => unplainPhrases(title).length > 0);
  expect(bad).toEqual([]);
});

it("vitest's functions are describe and it: test names the app under test", () => {
  const others = files.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return /import \{[^}]*\btest\b[^}]*\} from 'vitest'/.test(text);
  });
  expect(others).toEqual([]);
});
