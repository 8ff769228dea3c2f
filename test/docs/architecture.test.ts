// ARCHITECTURE.md, the pages at the root and docs/making/ are held to the program: the files and
// keys that they name, their links, and the licence of every dependency. Generated parts:
// generated.test.ts; the length of sentences: prose.test.ts.
import { existsSync, globSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configKeys } from '../../src/core/config/keys.ts';
import { repository } from '../support/cli.ts';
import { codeSpans, readMarkdown, section, tableRows } from './markdown.ts';
import { read, sources } from './write.ts';

const architecture = readMarkdown('ARCHITECTURE.md');
const folder = globSync('docs/making/*.md', { cwd: repository });
const atRoot = ['CHANGELOG.md', 'CODE_OF_CONDUCT.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const documents = ['ARCHITECTURE.md', ...atRoot, ...folder];
const texts = documents.map((file) => ({ file, ...readMarkdown(file) }));

it('ARCHITECTURE.md stays short enough to be read whole', () => {
  const lines = architecture.text.split('\n');
  expect(architecture.text.split(/\s+/).length).toBeLessThanOrEqual(2_500);
  expect(lines.length).toBeLessThanOrEqual(260);
  expect(lines.filter((line) => [...line].length > 110)).toEqual([]);
});

it('ARCHITECTURE.md lists the pages of docs/making/', () => {
  const listed = tableRows(section(architecture, 'What else is written')).map(
    ([cell = '']) => /\]\((.*)\)/.exec(cell)?.[1],
  );
  expect(listed).toEqual(folder.sort());
});

it.each(documents)('%s has lines of at most 120 characters', (file) => {
  const lines = read(file).split('\n');
  expect(lines.filter((line) => [...line].length > 120)).toEqual([]);
});

it('the documents name only files that exist', () => {
  const packages = Object.keys(JSON.parse(read('package.json')).dependencies);
  const paths = texts.flatMap(({ file, text }) =>
    [...text.matchAll(/(?<![\w*./-])[\w./-]+\.(?:ts|js|yaml|cjs)\b/g)]
      .filter(([path]) => !packages.includes(path))
      .map(([path]) => ({ file, path })),
  );
  const tests = globSync('test/**/*.ts', { cwd: repository });
  const others = [...readdirSync(repository), 'src/mail/smtp/providers.yaml'];
  const names = [...sources, ...tests, ...others];
  const isThere = (path: string) => names.some((name) => `/${name}`.endsWith(`/${path}`));
  expect(paths.length).toBeGreaterThan(100);
  expect(paths.filter(({ path }) => !isThere(path))).toEqual([]);
});

it('the documents name only folders that exist', () => {
  const named = texts.flatMap(({ file, prose }) =>
    codeSpans(prose)
      .filter((span) => /^[a-z][\w/-]*\/$/.test(span))
      .map((span) => ({ file, path: span.slice(0, -1) })),
  );
  const folders = globSync('{bin,commands,daemon,docs,src,test}/**/', { cwd: repository });
  // The noun of "How to add a noun" has no room.
  const isThere = (path: string) =>
    path.endsWith('/labels') || folders.some((name) => `/${name}`.endsWith(`/${path}`));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ path }) => !isThere(path))).toEqual([]);
});

it('the documents link only to files that exist', () => {
  const links = texts.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, to = '']) => join(dirname(file), to)),
  );
  expect(links.length).toBeGreaterThan(60);
  expect(links.filter((path) => !existsSync(join(repository, path)))).toEqual([]);
});

describe('dependencies', () => {
  const allowed = ['MIT', 'MIT-0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'ISC'];
  allowed.push('Apache-2.0', 'BlueOak-1.0.0', 'Unlicense');
  const isAllowed = (licence: string) =>
    licence
      .replace(/[()]/g, '')
      .split(' OR ')
      .some((name) => allowed.includes(name));
  const dependencies = readMarkdown('docs/making/dependencies.md');
  const lock: Record<string, { dev?: boolean; license?: string }> = JSON.parse(
    read('package-lock.json'),
  ).packages;
  const installed = Object.entries(lock).filter(([place, { dev }]) => place !== '' && !dev);

  it.each(tableRows(dependencies.prose))(
    'include %s under the accepted licence %s',
    (name = '', licence = '') => {
      const { dev = false } = lock[`node_modules/${name.replaceAll('`', '')}`] ?? {};
      // For development only.
      const isTool = dev && licence === 'MPL-2.0';
      expect(isTool || isAllowed(licence)).toBe(true);
    },
  );

  it('bring along only packages with an accepted licence', () => {
    const others = installed.filter(([, { license = 'none' }]) => !isAllowed(license));
    expect(others).toEqual([]);
  });

  it('are fewer than 300 packages', () => {
    const { length } = installed.filter(([place]) => existsSync(join(repository, place)));
    expect(length).toBeLessThan(300);
    const counted = /installs (\d+) packages/.exec(dependencies.text)?.[1];
    expect(Math.abs(Number(counted) - length)).toBeLessThan(10);
  });
});

it('the documents name only keys of the configuration that exist', () => {
  const known = configKeys.map(({ path }) => path);
  const given = texts
    .flatMap(({ prose }) => codeSpans(prose))
    .filter((span) => /^(http|smtp|delivery)\.\w/.test(span));
  expect(given.length).toBeGreaterThan(3);
  expect(given.filter((key) => !known.includes(key))).toEqual([]);
});
