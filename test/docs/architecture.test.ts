// ARCHITECTURE.md is held to the program: the order of the rooms, who owns which table, the files it
// names, and every dependency with its licence.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { migrations } from '../../src/store/migrate.ts';
import { repository } from '../support/cli.ts';
import { codeSpans, readMarkdown, section, tableRows } from './markdown.ts';

const architecture = readMarkdown('ARCHITECTURE.md');

function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}

function plain(cell = ''): string {
  return cell.replaceAll('`', '');
}

/** All source files of the program, from the root of the repository. */
const sources = ['bin', 'commands', 'daemon', 'src'].flatMap((folder) =>
  readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.(ts|js)$/.test(path)),
);

test('lines are at most 120 characters', () => {
  const lines = architecture.text.split('\n');
  expect(lines.filter((line) => [...line].length > 120)).toEqual([]);
});

test('the order of the rooms is the one that dependency-cruiser holds', () => {
  const list = /const rooms = \[([^\]]*)\]/.exec(read('.dependency-cruiser.cjs'))?.[1] ?? '';
  const held = [...list.matchAll(/'([a-z.-]+)'/g)].map(([, room]) => room);
  const fence = architecture.fences.find(({ text }) => text.startsWith('errors.ts →'));
  expect(held.length).toBeGreaterThan(30);
  expect(fence?.text.split(/\s*→\s*/)).toEqual(held);
});

test('every file that it names is there', () => {
  const packages = Object.keys(JSON.parse(read('package.json')).dependencies);
  const paths = [...architecture.text.matchAll(/[\w./-]+\.(?:ts|js|yaml|cjs)\b/g)]
    .map(([path]) => path)
    .filter((path) => !packages.includes(path));
  const names = [...sources, ...readdirSync(repository), 'src/smtp/providers.yaml'];
  const isThere = (path: string) => names.some((name) => `/${name}`.endsWith(`/${path}`));
  expect(paths.length).toBeGreaterThan(40);
  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});

describe('table owners', () => {
  const owners = new Map(
    tableRows(section(architecture, 'Table owners')).map(([table = '', owner = '']) => [
      plain(table),
      owner.split(', ').map(plain),
    ]),
  );
  // A table that a later migration makes anew is one.
  const made = migrations.flatMap(({ statements }) =>
    statements('sqlite').flatMap((text) => /^create table (\w+)/.exec(text)?.[1] ?? []),
  );
  const created = [...new Set(made)];
  /** The tables that a file names in SQL; only queries files write any (the doorway of kysely). */
  const queried = new Map(
    sources.map((path) => {
      const calls =
        /(?:selectFrom|insertInto|updateTable|deleteFrom|Join|bulkInsert<\w+>)\(\s*'(\w+)/g;
      return [path, new Set([...read(path).matchAll(calls)].map(([, table = '']) => table))];
    }),
  );

  test('every table of the migrations has one', () => {
    expect([...owners.keys()].sort()).toEqual([...created].sort());
  });

  test.each([...owners])('%s is named by %s alone', (table, files) => {
    // Several files of one owner stand in one area.
    expect(new Set(files.map((file) => file.slice(0, file.lastIndexOf('/')))).size).toBe(1);
    for (const file of files) {
      if (file.startsWith('src/store/')) {
        expect(read(file)).toMatch(new RegExp(`\\b(from|into|update) ${table}\\b`));
      } else {
        expect(file).toMatch(/queries\.ts$/);
        expect(queried.get(file)).toContain(table);
      }
    }
    const others = sources.filter((path) => !files.includes(path) && queried.get(path)?.has(table));
    expect(others).toEqual([]);
  });
});

describe('dependencies', () => {
  const allowed = ['MIT', 'MIT-0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'ISC'];
  allowed.push('Apache-2.0', 'BlueOak-1.0.0');
  const isAllowed = (licence: string) =>
    licence
      .replace(/[()]/g, '')
      .split(' OR ')
      .some((one) => allowed.includes(one));
  const { dependencies, devDependencies } = JSON.parse(read('package.json'));
  const rows = tableRows(section(architecture, 'Dependencies'));
  const lock: Record<string, { dev?: boolean; license?: string }> = JSON.parse(
    read('package-lock.json'),
  ).packages;
  const installed = Object.entries(lock).filter(([place, { dev }]) => place !== '' && !dev);

  test('each is listed, in the order of package.json', () => {
    const names = [...Object.keys(dependencies), ...Object.keys(devDependencies)];
    expect(rows.map(([name]) => plain(name))).toEqual(names);
  });

  test.each(rows.map(([name, licence = '', reason = '']) => [plain(name), licence, reason]))(
    '%s: %s, with its reason',
    (name = '', licence = '', reason) => {
      const { license } = JSON.parse(read(`node_modules/${name}/package.json`));
      expect(license).toBe(licence);
      expect(isAllowed(licence)).toBe(true);
      expect(reason).toMatch(/^\S.{4,}/);
    },
  );

  test('whatever they bring along has such a licence too', () => {
    const others = installed.filter(([, { license = 'none' }]) => !isAllowed(license));
    expect(others).toEqual([]);
  });

  test('they stay below 250 packages', () => {
    expect(installed.length).toBeLessThan(250);
    const counted = /installs (\d+) packages/.exec(architecture.text)?.[1];
    expect(Math.abs(Number(counted) - installed.length)).toBeLessThan(10);
  });
});

test('the keys of the configuration that it names exist', async () => {
  const { configKeys } = await import('../../src/config/keys.ts');
  const known = configKeys.map(({ path }) => path);
  const given = codeSpans(architecture.prose).filter((span) =>
    /^(http|smtp|delivery)\.\w/.test(span),
  );
  expect(given.length).toBeGreaterThan(3);
  expect(given.filter((key) => !known.includes(key))).toEqual([]);
});
