// Each block of commands in README.md and docs/*.md is run, or its mark says why not.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { allFences, markFault, reasons } from './blocks.ts';

const fences = allFences();
const shell = fences.filter(({ language }) => language === 'sh');
const tests = new Map(
  globSync('*.test.ts', { cwd: import.meta.dirname }).map((file) => [
    basename(file),
    readFileSync(join(import.meta.dirname, file), 'utf8'),
  ]),
);
const fence = { language: 'sh', text: '', line: 1 };

it('every block of commands is run, or says why not', () => {
  const faults = shell.map((block) => [`${block.page}:${block.line}`, markFault(block, tests)]);
  expect(faults.filter(([, fault]) => fault !== null)).toEqual([]);
  expect(shell.length).toBeGreaterThan(130);
});

it('a test that tries a block reads its page', () => {
  const tried = shell.filter(({ marks }) => marks[0] === 'tried');
  const unread = tried.filter(({ page, marks }) => !tests.get(marks[2] ?? '')?.includes(page));
  expect(unread.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

it('every reason has a block', () => {
  const given = new Set(shell.map(({ marks }) => marks.join(' ')));
  expect(reasons.filter((reason) => !given.has(reason))).toEqual([]);
});

it('no command stands in a block of another language', () => {
  const command = /^(?:\$ )?(?:sudo |[A-Z_]+=\S+ )*(?:svc|curl|git|npm|npx|jq|systemctl) /m;
  const hidden = fences.filter(({ language, text }) => language !== 'sh' && command.test(text));
  expect(hidden.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

it.each([
  ['no mark', []],
  ['an unknown reason', ['needs', 'luck']],
  ['an unknown test', ['tried', 'in', 'nothing.test.ts']],
  ['a word too many', ['run', 'later']],
])('%s is a fault', (_what, marks) => {
  expect(markFault({ ...fence, marks }, tests)).not.toBeNull();
});
