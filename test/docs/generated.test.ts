// What `npm run docs` writes is in the documents as it would write it now, and every row that is
// completed by hand has its words. Also who owns a table, which it finds in the code.
import { describe, expect, test } from 'vitest';
import { readMarkdown, tableRows } from './markdown.ts';
import { files, installed, ownersOf, read, tables, written } from './write.ts';

test.each(files)('%s is as "npm run docs" writes it', async (file) => {
  expect(read(file)).toBe(await written(file));
});

test.each(files)('every row of %s has its words', (file) => {
  const rows = tableRows(readMarkdown(file).prose);
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((cells) => !/^\S.{3,}/.test(cells.at(-1) ?? ''))).toEqual([]);
});

test('what "npm ci --omit=dev" installs is within its bounds', () => {
  const { packages, megabytes } = installed();
  expect(packages).toBeLessThanOrEqual(300);
  expect(packages).toBeGreaterThan(200);
  expect(megabytes).toBeLessThanOrEqual(150);
  expect(megabytes).toBeGreaterThan(80);
});

describe('table owners', () => {
  test.each(tables)('%s is named in one room alone, in its files of queries', (table) => {
    const owners = ownersOf(table);
    expect(owners.length).toBeGreaterThan(0);
    expect(new Set(owners.map((path) => path.slice(0, path.lastIndexOf('/')))).size).toBe(1);
    expect(owners.filter((path) => !/^src\/(store\/|.*queries\.ts$)/.test(path))).toEqual([]);
  });
});
