// Generated parts of documents: `npm run docs` writes them between two comments of the document,
// and generated.test.ts fails for a difference. The last cell of a row that the program has no
// words for is written by hand and kept.
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BaseCommand } from '../../commands/base/command.ts';
import { commandsFolder, listCommandIds } from '../../commands/base/input/typed.ts';
import { migrations } from '../../src/platform/store/migrate.ts';
import { sqlOf } from '../../src/platform/store/migration.ts';
import { repository } from '../support/cli.ts';
import { fieldRows } from './fields.ts';
import { tableRows } from './markdown.ts';

/** A table of a document, between `<!-- npm run docs: NAME -->` and `<!-- end -->`. */
interface Part {
  file: string;
  name: string;
  head: readonly string[];
  /** Rows without their last cell keep the present one. */
  rows(): string[][] | Promise<string[][]>;
}

export function read(path: string): string {
  return readFileSync(join(repository, path), 'utf8');
}

/** All source files of the program, from the root of the repository. */
export const sources = ['bin', 'commands', 'daemon', 'src'].flatMap((folder) =>
  readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.(ts|js)$/.test(path))
    .sort(),
);

/** The rooms of each wing of src/, in the order that dependency-cruiser holds. */
const wings: Readonly<Record<string, readonly string[]>> = JSON.parse(read('wings.json'));
const rooms = Object.entries(wings).flatMap(([wing, own]) =>
  own.length === 0 ? [wing] : own.map((room) => `${wing}/${room}`),
);

/** Lists the wings with their rooms. */
const wingRows = () =>
  Object.entries(wings).map(([wing, own]) => [
    `\`${wing}/\``,
    own.join(' → ').replaceAll('.ts', '') || '(one room)',
  ]);

export async function commandClass(id: string): Promise<typeof BaseCommand> {
  const file = pathToFileURL(join(commandsFolder, `${id.replaceAll(':', '/')}.ts`));
  const loaded: { default: typeof BaseCommand } = await import(file.href);
  return loaded.default;
}

function commandRows(): Promise<string[][]> {
  return Promise.all(
    listCommandIds().map(async (id) => {
      const { args, flags = {}, summary = '' } = await commandClass(id);
      const names = Object.entries(args).map(([name, { required }]) =>
        required ? name.toUpperCase() : `[${name.toUpperCase()}]`,
      );
      const needed = Object.entries(flags)
        .filter(([, { required }]) => required)
        .map(([name, flag]) => `--${name} ${('helpValue' in flag && flag.helpValue) || 'VALUE'}`);
      return [`\`${['svc', ...id.split(':'), ...names, ...needed].join(' ')}\``, summary];
    }),
  );
}

/** Lists the commands that no server answers. */
async function storeCommandRows(): Promise<string[][]> {
  const rows = await Promise.all(
    listCommandIds().map(async (id) => {
      const { asksServer, summary = '' } = await commandClass(id);
      return asksServer ? [] : [[`\`svc ${id.replaceAll(':', ' ')}\``, summary]];
    }),
  );
  return rows.flat();
}

/** Descriptions of the tables: the first sentence of the comment above each, without its point. */
const descriptions = new Map(
  migrations.flatMap((migration) => {
    const found = sqlOf(migration, 'sqlite').matchAll(/^((?:--.*\n)*)create table (\w+)/gm);
    return [...found].map(([, comment = '', table = '']) => {
      const text = comment.replaceAll(/^-- */gm, '').replaceAll('\n', ' ');
      return [table, /^(.+?)\.(?: |$)/.exec(text)?.[1] ?? ''] as const;
    });
  }),
);

/** Names of all tables. */
export const tables = [...descriptions.keys()];

/** Names of tables in calls of Kysely. */
const inCalls =
  /(?:selectFrom|insertInto|updateTable|deleteFrom|Join|own\.(?:bulkInsert|rowsOf|counter|lockerOf|changeCounter|column))\(\s*'(\w+)/g;
/** Names of tables in SQL, which only the store and files of queries may write. */
const inSql = /\b(?:from|join|into|update) (\w+)/g;

/** Files of the program, with the tables that they name. */
const queried = sources.map((path) => {
  const text = read(path).replaceAll(/^ *(\/\/|\*|\/\*\*) .*$/gm, '');
  const hasSql = /^src\/(platform\/store\/(?!schema\/|postgres\/).*|.*queries)\.ts$/.test(path);
  const found = (hasSql ? [inCalls, inSql] : [inCalls]).flatMap((named) => [
    ...text.matchAll(named),
  ]);
  return { path, names: new Set(found.map(([, table = '']) => table)) };
});

/** Returns the files that name a table. */
export function ownersOf(table: string): string[] {
  return queried.filter(({ names }) => names.has(table)).map(({ path }) => path);
}

/** Returns the place of a file's room in the order of rooms; -1 outside of the rooms. */
export function roomPlace(path = ''): number {
  return rooms.findIndex((name) => path.startsWith(`src/${name}`));
}

/** Lists the tables and their owners in the order of rooms. */
function ownerRows(): string[][] {
  return tables
    .map((table) => ({ table, owners: ownersOf(table) }))
    .sort((a, b) => roomPlace(a.owners[0]) - roomPlace(b.owners[0]))
    .map(({ table, owners }) => [
      `\`${table}\``,
      ownersInWords(owners),
      descriptions.get(table) ?? '',
    ]);
}

/** Names the owners by their rooms. Several files of queries are named together. */
function ownersInWords(owners: readonly string[]): string {
  const folders = owners.map((path) => path.replace(/[^/]+$/, ''));
  const folder = folders.toSorted((a, b) => a.length - b.length)[0];
  const isOne = owners.length > 1 && owners.every((path) => path.endsWith('queries.ts'));
  const shown = isOne ? [`${folder}*queries.ts`] : owners;
  return shown
    .map((path) => `\`${path.replace(/^src\/(?:[\w-]+\/)?(?=[\w-]+\/)/, '')}\``)
    .join(', ');
}

/** Lists packages with the licence that the lock file has: some may not be installed here. */
function dependencyRows(list: 'dependencies' | 'devDependencies'): string[][] {
  const { packages } = JSON.parse(read('package-lock.json'));
  return Object.keys(JSON.parse(read('package.json'))[list]).map((name) => [
    `\`${name}\``,
    packages[`node_modules/${name}`].license,
  ]);
}

/** Lists the folders that `npm ci --omit=dev` installs. */
function installedFolders(): string[] {
  const lock: { packages: Record<string, { dev?: boolean }> } = JSON.parse(
    read('package-lock.json'),
  );
  return Object.entries(lock.packages).flatMap(([path, { dev }]) => (path && !dev ? path : []));
}

/** Sums the bytes of a folder on the disk, without the packages below it. */
function bytesIn(folder: string): number {
  const bytes = readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const path = join(folder, entry.name);
    if (entry.name === 'node_modules') return 0;
    return entry.isDirectory() ? bytesIn(path) : lstatSync(path).blocks * 512;
  });
  return bytes.reduce((sum, size) => sum + size, lstatSync(folder).blocks * 512);
}

/** Measures the packages of `npm ci --omit=dev`, without those of other platforms. */
export function installed(): { packages: number; megabytes: number } {
  const folders = installedFolders();
  const here = folders.map((path) => join(repository, path)).filter((path) => existsSync(path));
  const bytes = here.reduce((sum, path) => sum + bytesIn(path), 0);
  return { packages: here.length, megabytes: Math.round(bytes / 1024 ** 2) };
}

const packageHead = ['Package', 'Licence', 'Reason'];
const parts: readonly Part[] = [
  {
    file: 'ARCHITECTURE.md',
    name: 'wings',
    head: ['Wing', 'Rooms, in order'],
    rows: wingRows,
  },
  {
    file: 'docs/commands.md',
    name: 'commands',
    head: ['Command', 'Purpose'],
    rows: commandRows,
  },
  {
    file: 'docs/remote.md',
    name: 'storeCommands',
    head: ['Command', 'Purpose'],
    rows: storeCommandRows,
  },
  {
    file: 'docs/making/tables.md',
    name: 'tables',
    head: ['Table', 'Owner', 'Holds'],
    rows: ownerRows,
  },
  {
    file: 'docs/making/fields.md',
    name: 'fields',
    head: ['Operation', 'Field', 'Takes'],
    rows: fieldRows,
  },
  ...(['dependencies', 'devDependencies'] as const).map((name) => ({
    file: 'docs/making/dependencies.md',
    name,
    head: packageHead,
    rows: () => dependencyRows(name),
  })),
];

export const files = [...new Set(parts.map(({ file }) => file))];

/**
 * Returns the document with its generated parts. @throws Error without the comments around a part.
 */
export async function written(file: string): Promise<string> {
  let text = read(file);
  for (const part of parts.filter((candidate) => candidate.file === file)) {
    const start = `<!-- npm run docs: ${part.name} -->\n`;
    const [before, rest] = text.split(start);
    const end = rest?.indexOf('<!-- end -->') ?? -1;
    if (!rest || end < 0) throw new Error(`${file} lacks "${start.trim()}" and "<!-- end -->"`);
    const words = new Map(
      tableRows(rest.slice(0, end).split('\n')).map((cells) => [cells[0], cells.at(-1) ?? '']),
    );
    const rows = (await part.rows()).map((cells) =>
      cells.length < part.head.length ? [...cells, words.get(cells[0]) ?? ''] : cells,
    );
    const table = [part.head, part.head.map(() => '---'), ...rows];
    const lines = table.map((cells) => `| ${cells.join(' | ')} |\n`.replaceAll(' --- ', '---'));
    text = `${before}${start}\n${lines.join('')}\n${rest.slice(end)}`;
  }
  return file === 'docs/making/dependencies.md' ? withInstalled(text) : text;
}

/**
 * File systems differ in the size of small files: this many megabytes more or less count as equal.
 */
const sameMegabytes = 10;

function withInstalled(text: string): string {
  const { packages, megabytes } = installed();
  return text.replace(/installs \d+ packages, (\d+) MB/, (_whole, stated: string) => {
    const isSame = Math.abs(Number(stated) - megabytes) <= sameMegabytes;
    return `installs ${packages} packages, ${isSame ? stated : megabytes} MB`;
  });
}

if (import.meta.main) {
  for (const file of files) writeFileSync(join(repository, file), await written(file));
}
