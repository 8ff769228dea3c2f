// The generated parts of the documents equal the output of `npm run docs`, and every row that is
// completed by hand has its words. Also the owner of each table, found in the code.
import { describe, expect, it } from 'vitest';
import { readMarkdown, tableRows } from './markdown.ts';
import { files, installed, ownersOf, read, roomPlace, tables, written } from './write.ts';

it.each(files)('%s equals the output of "npm run docs"', async (file) => {
  expect(read(file)).toBe(await written(file));
});

it.each(files)('%s has words in every row', (file) => {
  const rows = tableRows(readMarkdown(file).prose);
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter((cells) => !/^\S.{3,}/.test(cells.at(-1) ?? ''))).toEqual([]);
});

it('"npm ci --omit=dev" installs packages within its bounds', () => {
  const { packages, megabytes } = installed();
  expect(packages).toBeLessThanOrEqual(300);
  expect(packages).toBeGreaterThan(200);
  expect(megabytes).toBeLessThanOrEqual(260);
  expect(megabytes).toBeGreaterThan(200);
});

describe('table owners', () => {
  it.each(tables)('name %s in one room, in its files of queries', (table) => {
    const owners = ownersOf(table);
    expect(owners.length).toBeGreaterThan(0);
    expect(new Set(owners.map(roomPlace)).size).toBe(1);
    expect(owners.filter((path) => !/^src\/(platform\/store\/|.*queries\.ts$)/.test(path))).toEqual(
      [],
    );
  });
});
