// docs/making/states.md has each lease of the house, and each time in the store that work waits
// for. Both are found in the schema and in the sources, so that a new one cannot be forgotten.
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { migrations, schemaStatements } from '../../../src/platform/store/migrate.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const sources = globSync('src/**/*.ts').filter((path) => !path.includes('/migrations/'));

/** Returns the cells of the rows of the tables of a document, without their marks. */
function cellsOf(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => /^\| [^-]/.test(line))
    .map((line) =>
      line
        .slice(2, -2)
        .split(' | ')
        .map((cell) => cell.replaceAll('`', '')),
    );
}

const [, leaseText = '', waitText = ''] = read('docs/making/states.md').split(
  /^## (?:Leases|Times that work waits for)$/m,
);
const leases = cellsOf(leaseText).slice(1);
const waits = cellsOf(waitText).slice(1);

/** Columns that name a holder, as `table.column`. */
function holdersIn(statements: readonly string[]): string[] {
  const own = /\b(claimed_by|worker|holder|leased_by|locked_by)\s+text(?! primary)/g;
  return statements.flatMap((text) => {
    const [, table = ''] =
      /^create table (?:if not exists )?(\w+)|^alter table (\w+)/.exec(text) ?? [];
    return [...text.matchAll(own)].map(([, column]) => `${table}.${column}`);
  });
}

/** Columns of times that a statement compares with now to find due work, as `table.column`. */
function waitsIn(text: string): string[] {
  const words =
    /(?:selectFrom|updateTable|deleteFrom)\('(\w+)'\)|'(\w+)', '<=', (?:values\.|lease\.)?now\b|coalesce\((\w+), 0\) <= \$\{now\}/g;
  const found: string[] = [];
  let table = '';
  for (const [, named, column, other] of text.matchAll(words)) {
    if (named) table = named;
    else if (table) found.push(`${table}.${column ?? other}`);
  }
  return found;
}

/** Columns of times in the future by their names, as `table.column`. */
function futuresIn(statements: readonly string[]): string[] {
  const own = /\b(next_\w*at|due_at|(?:\w+_)?until|\w+_after)\s+bigint/g;
  return statements.flatMap((text) => {
    const [, made, altered] =
      /^create table (?:if not exists )?(\w+)|^alter table (\w+)/.exec(text) ?? [];
    return [...text.matchAll(own)].map(([, column]) => `${made ?? altered}.${column}`);
  });
}

/** Names of the declared changes that bring a column to the present, by `table.column`. */
function bringsIn(files: readonly string[]): Map<string, string> {
  const declared = /export const (\w+) = own\.toPresent\('(\w+)', '(\w+)'\)/g;
  const found = files.flatMap((text) =>
    [...text.matchAll(declared)].map(
      ([, name = '', table, column]) => [`${table}.${column}`, name] as const,
    ),
  );
  return new Map(found);
}

/** Files that define the length of a lease. */
function leaseFilesIn(files: readonly (readonly [string, string])[]): string[] {
  const length = /^(?:export )?const (?:lease|claim)\w*Ms = |\bconst leaseMs = /m;
  return files.flatMap(([path, text]) => (length.test(text) ? path.replace(/^src\//, '') : []));
}

describe('the finders', () => {
  it('find a planted holder, wait and length', () => {
    expect(holdersIn(['create table parcels (\n  id text,\n  claimed_by text)'])).toEqual([
      'parcels.claimed_by',
    ]);
    expect(waitsIn("selectFrom('parcels')\n.where('send_at', '<=', now)")).toEqual([
      'parcels.send_at',
    ]);
    expect(futuresIn(['alter table parcels add column next_look_at bigint'])).toEqual([
      'parcels.next_look_at',
    ]);
    expect(leaseFilesIn([['src/parcels/loop.ts', 'const leaseMs = 5_000;']])).toEqual([
      'parcels/loop.ts',
    ]);
  });
});

describe('each lease', () => {
  it('with a holder in the schema is in the table', () => {
    const found = holdersIn(schemaStatements('sqlite', migrations));
    expect(found.length).toBeGreaterThanOrEqual(5);
    expect(found.filter((name) => !leases.some(([lease]) => lease === name))).toEqual([]);
  });

  it('with a length in the sources is in the table', () => {
    const found = leaseFilesIn(sources.map((path) => [path, read(path)] as const));
    expect(new Set(found)).toEqual(new Set(leases.map(([, file]) => file)));
  });

  it('is renewed by the one mechanism, or says why not', () => {
    for (const [name, file = '', , renewal = ''] of leases) {
      if (renewal.startsWith('none: ')) continue;
      expect(renewal, name).toBe('keepLease');
      const room = file.slice(0, file.lastIndexOf('/'));
      const files = sources.filter((path) => path.startsWith(`src/${room}/`));
      expect(
        files.some((path) => read(path).includes('keepLease(')),
        name,
      ).toBe(true);
    }
  });

  it('has a test of a holder that works longer', () => {
    const tests = read('test/faults/long-holders.test.ts');
    for (const [name, , , renewal = '', test = ''] of leases) {
      if (renewal.startsWith('none: ')) continue;
      expect(tests.includes(`it('${test}'`), name).toBe(true);
    }
  });

  it('is renewed nowhere by a timer of its own', () => {
    const own = sources.filter((path) => /renewLeases|extendJob|renew\w+\(/.test(read(path)));
    const timers = own.filter((path) => /clock\.after\([^)]*(renew|extend)/i.test(read(path)));
    expect(timers).toEqual([]);
  });
});

describe('each time that work waits for', () => {
  it('is in the table, with its end after a clock that ran ahead', () => {
    const found = new Set(sources.flatMap((path) => waitsIn(read(path))));
    expect(found.size).toBeGreaterThan(10);
    for (const column of futuresIn(schemaStatements('sqlite', migrations))) found.add(column);
    expect(found).toEqual(new Set(waits.map(([column]) => column)));
  });

  it('comes to the present by the one mechanism, if the table says so', () => {
    const setBack = read('src/service/jobs/set-back.ts');
    const brings = bringsIn(sources.map(read));
    for (const [column = '', , end = ''] of waits) {
      if (!end.includes('set-back.ts')) continue;
      expect(setBack, column).toContain(`bring: ${brings.get(column)} }`);
    }
  });
});
