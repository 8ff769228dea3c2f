// The size of the house: lines of each wing and file, and files of each folder.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { repository } from '../support/cli.ts';

/** Lines that each wing may have. A commit that needs more raises the budget of the wing. */
const budgets: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'budgets.json'), 'utf8'),
);
/** A wing may have this much more than its budget before the test fails. */
const slack = 1.03;
const mostFiles = 20;
const mostLines = 400;

const files = globSync(['{src,daemon,commands}/**/*.{ts,js,css,yaml,json}'], { cwd: repository });

/** Returns the wing of a file: `src/WING`, `daemon` or `commands`. */
const wingOf = (file: string) => /^src\/[^/]+|^[^/]+/.exec(file)?.[0] ?? '';
const linesOf = (file: string) =>
  readFileSync(join(repository, file), 'utf8').split('\n').length - 1;

it('each wing keeps its budget of lines', () => {
  const wings = Map.groupBy(files, wingOf);
  const sizes = [...wings].map(([wing, own]) => ({
    wing,
    lines: own.reduce((sum, file) => sum + linesOf(file), 0),
  }));
  expect(new Set(wings.keys())).toEqual(new Set(Object.keys(budgets)));
  const over = sizes.filter(({ wing, lines }) => lines > (budgets[wing] ?? 0) * slack);
  expect(over, 'delete lines, or raise the budget in test/docs/budgets.json').toEqual([]);
});

it('no folder has more than 20 files', () => {
  const folders = Map.groupBy(files, dirname);
  const full = [...folders].filter(
    ([folder, own]) => folder !== 'commands' && own.length > mostFiles,
  );
  expect(full.map(([folder, own]) => `${folder}: ${own.length}`)).toEqual([]);
});

it('no file has more than 400 lines', () => {
  const long = files.filter((file) => !file.endsWith('.json') && linesOf(file) > mostLines);
  expect(long.map((file) => `${file}: ${linesOf(file)}`)).toEqual([]);
});

it('tests measure work by test/support/work-time.ts, at the pace of the machine', () => {
  const measure = 'test/support/work-time.ts';
  const tests = globSync('test/**/*.ts', { cwd: repository }).filter(
    (file) => !file.startsWith('test/bench/') && file !== measure,
  );
  const raw = /\b(?:threadCpuUsage|cpuUsage|resourceUsage)\(/;
  const found = tests.filter((file) => raw.test(readFileSync(join(repository, file), 'utf8')));
  expect(found.sort()).toEqual([]);
});
