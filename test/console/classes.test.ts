// Classes of the style sheet and of the pages: a class has a rule and a page, or neither.
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { styleOf } from '../../daemon/console/assets.ts';

const sources = globSync(['daemon/console/**/*.ts', 'daemon/console/assets/*.js']).map((file) =>
  readFileSync(file, 'utf8'),
);
/** Classes without a rule of their own, and their use. */
const unstyled: Readonly<Record<string, string>> = {
  reply: 'console.js finds the answer by it',
  tiles: 'counts of the queue',
};

const word = '[a-z][a-z0-9-]*';
const styled = new Set(
  [...styleOf().matchAll(new RegExp(`\\.(${word})`, 'g'))].map(([, name = '']) => name),
);

/** Returns the words of all matches. */
const wordsIn = (pattern: RegExp) =>
  sources.flatMap((text) =>
    [...text.matchAll(pattern)].flatMap(([, words = '']) => words.split(/\s+/).filter(Boolean)),
  );

/** Classes that stand in an element. */
const written = new Set([
  ...wordsIn(/class="([^"$]*)"/g),
  ...wordsIn(/class=\$\{[^}]*?'([^']*)'/g),
  ...wordsIn(/class=\$\{[^}]*?: '([^']*)'/g),
  ...wordsIn(/class=\$\{`([^`$]*)/g),
]);
/** Classes that a function returns or a script sets: texts of such words alone. */
const named = new Set([
  ...wordsIn(new RegExp(`'((?:${word} ?)+)'`, 'g')),
  ...wordsIn(new RegExp(`[\`"]((?:${word} ?)+)[\`"$]`, 'g')),
]);

it('the style sheet has no class that no page has', () => {
  const dead = [...styled].filter((name) => !written.has(name) && !named.has(name));
  expect(dead).toEqual([]);
  expect(styled.size).toBeGreaterThan(100);
});

it('pages have no class without a rule', () => {
  const bare = [...written].filter((name) => !styled.has(name) && !Object.hasOwn(unstyled, name));
  expect(bare).toEqual([]);
  expect(written.size).toBeGreaterThan(80);
});
