// Unified diffs, checked by the real `git apply`: a diff must turn the one text into the other.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diffFiles } from '../../../src/content/git/diff.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { filesUnder } from '../../docs/plain-tests.ts';
import { startWork, workedMs } from '../../support/work-time.ts';
import { git, hasGit, scratch } from './real-git.ts';

const random = seededRandom(7);
const below = (most: number) => (random.bytes(1)[0] ?? 0) % most;

/** Returns a text and a changed one, from few distinct lines so that many match. */
function pairOfTexts(): [string, string] {
  const lines = Array.from({ length: below(40) }, () => `line ${below(6)}\n`);
  const changed = lines.flatMap((line) =>
    below(5) === 0 ? Array.from({ length: below(3) }, () => `new ${below(3)}\n`) : [line],
  );
  const cut = (text: string) => (below(4) === 0 ? text.slice(0, -1) : text);
  return [cut(lines.join('')), cut(changed.join(''))];
}

describe('diffFiles', () => {
  it('names added, deleted and modified files', async () => {
    const diffs = await diffFiles(
      { a: '1\n', b: '2\n', same: 's' },
      { a: '1\n2\n', c: '3', same: 's' },
    );
    expect(diffs.map(({ path, status }) => [path, status])).toEqual([
      ['a', 'modified'],
      ['b', 'deleted'],
      ['c', 'added'],
    ]);
    expect(diffs[0]?.diff).toBe('--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n 1\n+2\n');
    expect(diffs[2]?.diff).toBe(
      '--- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+3\n\\ No newline at end of file\n',
    );
  });

  it.skipIf(!hasGit)('is applied by git to the same result', async () => {
    const dir = scratch();
    await git(dir, 'init', '.');
    const [from, to]: Record<string, string>[] = [{}, {}];
    mkdirSync(join(dir, 'files'));
    for (let i = 0; i < 150; i++) {
      const path = `files/${i}`;
      const [a, b] = pairOfTexts();
      if (from) from[path] = a;
      if (to) to[path] = b;
      writeFileSync(join(dir, path), a);
    }
    const diffs = await diffFiles(from ?? {}, to ?? {});
    expect(diffs.length).toBeGreaterThan(100);
    writeFileSync(join(dir, 'all.diff'), diffs.map(({ diff }) => diff).join(''));
    await git(dir, 'apply', 'all.diff');
    for (const { path } of diffs) {
      expect(readFileSync(join(dir, path), 'utf8')).toBe(to?.[path]);
    }
  });

  it('shows texts that differ too much as replaced', async () => {
    const a = Array.from({ length: 3_000 }, (_, i) => `a${i}\n`).join('');
    const b = Array.from({ length: 3_000 }, (_, i) => `b${i}\n`).join('');
    const [diff] = await diffFiles({ f: a }, { f: b });
    expect(diff?.diff.match(/^@@/gm)).toEqual(['@@']);
    expect(diff?.isTruncated).toBe(false);
  });

  it('shows a small change in a long text', async () => {
    const lines = Array.from({ length: 50_000 }, (_, i) => `${i}\n`);
    const [diff] = await diffFiles(
      { f: lines.join('') },
      { f: lines.with(30_000, 'other\n').join('') },
    );
    expect(diff?.diff).toContain('@@ -29998,7 +29998,7 @@\n 29997\n');
    expect(diff?.diff).toContain('-30000\n+other\n 30001\n 30002\n 30003\n');
  });

  it('cuts a diff off at its limit', async () => {
    const [diff] = await diffFiles({ f: '' }, { f: 'x'.repeat(80).concat('\n').repeat(6_000) });
    expect(diff?.isTruncated).toBe(true);
    expect(diff?.diff.length).toBeLessThan(101_000);
  });

  it('gives no hunks for a differing part of more than 10,000 lines', async () => {
    const text = 'a\nb\n'.repeat(128 * 1024);
    const [diff] = await diffFiles({ f: text }, { f: text.replaceAll('b', 'c') });
    expect(diff).toEqual({
      path: 'f',
      status: 'modified',
      diff: '--- a/f\n+++ b/f\n',
      isTruncated: true,
    });
  });

  const wide = 'y'.repeat(45);
  const lines = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => `${line(index)}\n`).join('');
  it.each([
    ['the same line again and again', lines(9_000, () => wide), lines(8_900, () => wide)],
    ['two lines in turn', lines(9_900, (i) => `${i % 2}`), lines(9_900, (i) => `${i % 3 && 1}`)],
    [
      'two long lines in turn',
      lines(9_900, (i) => `${wide}${i % 2}`),
      lines(9_900, (i) => `${wide}${i % 3 && 1}`),
    ],
    ['no common line', lines(9_900, (i) => `a${i}`), lines(9_900, (i) => `b${i}`)],
    ['empty lines', '\n'.repeat(9_900), '\n'.repeat(9_700)],
    ['a long line', 'x'.repeat(500_000), 'x'.repeat(499_999)],
    ['carriage returns', '\r'.repeat(500_000), '\r'.repeat(499_999)],
    ['too many lines', '\n'.repeat(250_000), ' \n'.repeat(250_000)],
    ['a new file', '', lines(9_900, (i) => `${i}`)],
    ['a deleted file', lines(9_900, (i) => `${i}`), ''],
  ])('takes a bounded time for %s', async (_case, from, to) => {
    const files = [{ f: `q\n${from}r` }, { f: `w\n${to}s` }] as const;
    const times = [];
    for (let i = 0; i < 3; i++) {
      const begin = startWork();
      await diffFiles(...files);
      times.push(workedMs(begin));
    }
    expect(Math.min(...times)).toBeLessThan(150);
  });
});

it('texts are compared by one mechanism', () => {
  const files = ['src', 'daemon', 'commands'].flatMap((part) => filesUnder(part, /\.ts$/));
  const comparing = /diffArrays|diffLines|structuredPatch|Myers|maxEditLength/;
  expect(files.filter((file) => comparing.test(readFileSync(file, 'utf8')))).toEqual([
    'src/content/git/diff.ts',
  ]);
});
