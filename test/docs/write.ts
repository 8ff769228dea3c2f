// What documents say that the program knows: `npm run docs` writes it between two comments of the
// document, and generated.test.ts fails where it differs. The last cell of a row, where the program has
// no words for it, is written by hand and kept.
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BaseCommand } from '../../commands/base/command.ts';
import { commandsFolder, listCommandIds } from '../../commands/base/typed.ts';
import { migrations } from '../../src/store/migrate.ts';
import { sqlOf } from '../../src/store/migration.ts';
import { repository } from '../support/cli.ts';
import { fieldRows } from './fields.ts';
import { tableRows } from './markdown.ts';

/** A table of a document, between `<!-- npm run docs: NAME -->` and `<!-- end -->`. */
interface Part {
  file: string;
  name: string;
  head: readonly string[];
  /** Rows without their last cell are completed by what stands there now. */
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

/** The rooms of src/ in their order, as dependency-cruiser holds it. */
export const rooms = [
  ...(/const rooms = \[([^\]]*)\]/.exec(read('.dependency-cruiser.cjs'))?.[1] ?? '').matchAll(
    /'([a-z.-]+)'/g,
  ),
].map(([, room = '']) => room);

export async function commandClass(id: string): Promise<typeof BaseCommand> {
  const file = pathToFileURL(join(commandsFolder, `${id.replaceAll(':', '/')}.ts`));
  const loaded: { default: typeof BaseCommand } = await import(file.href);
  return loaded.default;
}

function commandRows(): Promise<string[][]> {
  return Promise.all(
    listCommandIds().map(async (id) => {
      const { args, summary = '' } = await commandClass(id);
      const names = Object.entries(args).map(([name, { required }]) =>
        required ? name.toUpperCase() : `[${name.toUpperCase()}]`,
      );
      return [`\`${['svc', ...id.split(':'), ...names].join(' ')}\``, summary];
    }),
  );
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

/** Tables as Kysely is given them, */
const inCalls =
  /(?:selectFrom|insertInto|updateTable|deleteFrom|Join|fullTextOf|bulkInsert<\w+>|(?:rowsOf|lockerOf|changeCounter)<\w+>)\(\s*'(\w+)/g;
/** and as SQL names them, which only the store and files of queries can write (the doorway of kysely). */
const inSql = /\b(?:from|join|into|update) (\w+)/g;

/** Files of the program, with the tables that they name. */
const queried = sources.map((path) => {
  const text = read(path).replaceAll(/^ *(\/\/|\*|\/\*\*) .*$/gm, '');
  const hasSql = /^src\/(store\/[\w-]+|.*queries)\.ts$/.test(path);
  const found = (hasSql ? [inCalls, inSql] : [inCalls]).flatMap((named) => [
    ...text.matchAll(named),
  ]);
  return { path, names: new Set(found.map(([, table = '']) => table)) };
});

/** The files that name a table. */
export function ownersOf(table: string): string[] {
  return queried.filter(({ names }) => names.has(table)).map(({ path }) => path);
}

/** In the order of rooms. */
function ownerRows(): string[][] {
  const room = (path = '') => rooms.indexOf(path.split('/')[1] ?? '');
  return tables
    .map((table) => ({ table, owners: ownersOf(table) }))
    .sort((a, b) => room(a.owners[0]) - room(b.owners[0]))
    .map(({ table, owners }) => [
      `\`${table}\``,
      ownersInWords(owners),
      descriptions.get(table) ?? '',
    ]);
}

/** Several files of queries are named together. */
function ownersInWords(owners: readonly string[]): string {
  const folder = owners[0]?.replace(/[^/]+$/, '');
  const isOne = owners.length > 1 && owners.every((path) => path.endsWith('queries.ts'));
  const shown = isOne ? [`${folder}*queries.ts`] : owners;
  return shown.map((path) => `\`${path}\``).join(', ');
}

function dependencyRows(list: 'dependencies' | 'devDependencies'): string[][] {
  return Object.keys(JSON.parse(read('package.json'))[list]).map((name) => [
    `\`${name}\``,
    JSON.parse(read(`node_modules/${name}/package.json`)).license,
  ]);
}

/** Folders of what `npm ci --omit=dev` installs. */
function installedFolders(): string[] {
  const lock: { packages: Record<string, { dev?: boolean }> } = JSON.parse(
    read('package-lock.json'),
  );
  return Object.entries(lock.packages).flatMap(([path, { dev }]) => (path && !dev ? path : []));
}

/** Bytes that a folder takes on the disk, without the packages below it. */
function bytesIn(folder: string): number {
  const bytes = readdirSync(folder, { withFileTypes: true }).map((entry) => {
    const path = join(folder, entry.name);
    if (entry.name === 'node_modules') return 0;
    return entry.isDirectory() ? bytesIn(path) : lstatSync(path).blocks * 512;
  });
  return bytes.reduce((sum, each) => sum + each, lstatSync(folder).blocks * 512);
}

/** What `npm ci --omit=dev` installs; a package that this platform does not need has no bytes. */
export function installed(): { packages: number; megabytes: number } {
  const folders = installedFolders();
  const here = folders.map((path) => join(repository, path)).filter((path) => existsSync(path));
  const bytes = here.reduce((sum, path) => sum + bytesIn(path), 0);
  return { packages: folders.length, megabytes: Math.round(bytes / 1024 ** 2) };
}

const packageHead = ['Package', 'Licence', 'Reason'];
const parts: readonly Part[] = [
  {
    file: 'docs/commands.md',
    name: 'commands',
    head: ['Command', 'What it does'],
    rows: commandRows,
  },
  {
    file: 'docs/tables.md',
    name: 'tables',
    head: ['Table', 'Owner', 'Holds'],
    rows: ownerRows,
  },
  {
    file: 'docs/fields.md',
    name: 'fields',
    head: ['Operation', 'Field', 'Takes'],
    rows: fieldRows,
  },
  ...(['dependencies', 'devDependencies'] as const).map((name) => ({
    file: 'docs/dependencies.md',
    name,
    head: packageHead,
    rows: () => dependencyRows(name),
  })),
];

export const files = [...new Set(parts.map(({ file }) => file))];

/** The document as it has to be. @throws Error where the comments around a part are missing. */
export async function written(file: string): Promise<string> {
  let text = read(file);
  for (const part of parts.filter((one) => one.file === file)) {
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
  return file === 'docs/dependencies.md' ? withInstalled(text) : text;
}

/** File systems differ in what a small file takes: so few megabytes more or less are as good. */
const sameMegabytes = 10;

function withInstalled(text: string): string {
  const { packages, megabytes } = installed();
  return text.replace(/installs \d+ packages, (\d+) MB/, (_whole, said: string) => {
    const isSame = Math.abs(Number(said) - megabytes) <= sameMegabytes;
    return `installs ${packages} packages, ${isSame ? said : megabytes} MB`;
  });
}

if (import.meta.main) {
  for (const file of files) writeFileSync(join(repository, file), await written(file));
}
