// Finds the roads by which mail leaves, in the text of the sources: declarations that store a
// message or a delivery, and files that hand mail to the one admission. It knows tables and
// `accept.ts`, no road by its name.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** Texts by path from the root of the repository. */
export type Sources = ReadonlyMap<string, string>;

export function readSources(): Map<string, string> {
  const paths = globSync('{bin,commands,daemon,src}/**/*.ts').filter(
    (path) => !path.includes('/migrations/'),
  );
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}

interface Declaration {
  path: string;
  name: string;
  body: string;
}

/** Splits a module at its top-level declarations. */
function declarationsOf(path: string, text: string): Declaration[] {
  const start =
    /^(?:export )?(?:default )?(?:async )?(?:abstract )?(?:const|let|function\*?|class) (\w+)/gm;
  const found = [...text.matchAll(start)];
  return found.map((match, index) => ({
    path,
    name: match[1] ?? '',
    body: text.slice(match.index, found[index + 1]?.index),
  }));
}

/** Returns the pattern of a statement that adds a row to a table. */
const insertsInto = (table: string) =>
  new RegExp(
    `(?:bulkInsert|insertInto|rowsOf|counter|replaceInto)\\(\\s*['"\`]${table}['"\`]|` +
      `insert\\s+(?:or\\s+\\w+\\s+)?into\\s+"?${table}\\b`,
    'i',
  );

const nameOf = ({ path, name }: Declaration) => `${path} ${name}`;

/** Returns the modules that a file names, static or not, with their text from the root. */
function modulesOf(path: string, text: string): Set<string> {
  const named = text.matchAll(/(?:from|import\()\s*['"](\.[^'"]+)['"]/g);
  return new Set([...named].map((match) => join(dirname(path), match[1] ?? '')));
}

const mentions = (text: string, name: string) => new RegExp(`\\b${name}\\b`).test(text);

/** Returns the name that a file imports a declaration under. */
function localName(text: string, { name }: Declaration): string {
  return new RegExp(`\\b${name}(?:\\s+as|:)\\s+(\\w+)`).exec(text)?.[1] ?? name;
}

/** Returns the declarations of other modules that use `target`, and those of its own. */
function usersOf(all: readonly Declaration[], sources: Sources, target: Declaration) {
  return all.filter((one) => {
    if (one.path === target.path)
      return one.name !== target.name && mentions(one.body, target.name);
    const text = sources.get(one.path) ?? '';
    if (!modulesOf(one.path, text).has(target.path)) return false;
    return mentions(one.body, target.name) || mentions(one.body, localName(text, target));
  });
}

function allDeclarations(sources: Sources): Declaration[] {
  return [...sources].flatMap(([path, text]) => declarationsOf(path, text));
}

/** The function that admits mail, and those that may hand in mail with it. */
const admission = 'src/outbound/sending/accept.ts';

/**
 * Returns the declarations outside of the owner of a table that add a row to it, as `path name`.
 */
export function storesOf(sources: Sources, table: 'messages' | 'deliveries'): string[] {
  const all = allDeclarations(sources);
  const inserts = insertsInto(table);
  const owners = all.filter(({ body }) => inserts.test(body));
  const outside = new Set<string>();
  const seen = new Set(owners.map(nameOf));
  for (const one of owners) {
    if (!one.path.endsWith('/queries.ts')) outside.add(nameOf(one));
    for (const user of usersOf(all, sources, one)) {
      if (user.path !== one.path) outside.add(nameOf(user));
      else if (!seen.has(nameOf(user))) {
        seen.add(nameOf(user));
        owners.push(user);
      }
    }
  }
  return [...outside].sort();
}

/** Returns the files that hand mail to the admission. */
export function roadsOfMail(sources: Sources): string[] {
  const all = allDeclarations(sources);
  const [accept] = all.filter(({ path, name }) => path === admission && name === 'acceptAll');
  if (!accept) throw new Error(`${admission} has no acceptAll`);
  const roads = new Set<string>();
  // `send.ts` only gathers single sends, so its callers are roads too.
  const doors = [accept, ...usersOf(all, sources, accept).filter(isDoor)];
  for (const door of doors.flatMap((one) => [one, ...gathers(all, one)])) {
    for (const user of usersOf(all, sources, door))
      if (user.path !== admission) roads.add(user.path);
  }
  return [...roads].sort();
}

const isDoor = ({ path }: Declaration) => path === 'src/outbound/sending/send.ts';

/**
 * Returns the further declarations of the module of a door: `acceptTogether` → `gathered` →
 * `acceptOne`.
 */
function gathers(all: readonly Declaration[], { path }: Declaration): Declaration[] {
  return isDoor({ path, name: '', body: '' })
    ? all.filter((one) => one.path === path && one.name === 'acceptOne')
    : [];
}
