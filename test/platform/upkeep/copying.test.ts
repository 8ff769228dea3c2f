// Copies of a store between the engines: SQLite → PostgreSQL → SQLite, with rows in every table.
// Slow: three copies of every table.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { ConflictError, UnreachableError } from '../../../src/platform/errors.ts';
import { systemClock } from '../../../src/platform/runtime/clock.ts';
import { type Random, seededRandom } from '../../../src/platform/runtime/random.ts';
import { openStore } from '../../../src/platform/store/open.ts';
import { saveBackup, verifyBackup } from '../../../src/platform/upkeep/backup.ts';
import { copyPostgres } from '../../../src/platform/upkeep/copying/from-postgres.ts';
import { copiedTables, digestsOfFile } from '../../../src/platform/upkeep/copying/tables.ts';
import { loadIntoPostgres } from '../../../src/platform/upkeep/copying/to-postgres.ts';
import { type PostgresSchema, postgresSchema } from '../../support/postgres.ts';

const seed = Number(process.env['SEED'] ?? Date.now() % 100_000);
const rowsOfTable = 7;
const silent = () => {};

let directory: string;
let file: string;
let schema: PostgresSchema;

const world = mkdtempSync(join(tmpdir(), 'svc-copying-'));
const full = join(world, 'full.db');

beforeAll(async () => {
  const store = await openStore({ url: `sqlite:${full}` }, world, systemClock);
  await store.close();
  fill(full, seededRandom(seed));
});
afterAll(() => rmSync(world, { recursive: true }));

beforeEach(async () => {
  directory = mkdtempSync(join(world, 'test-'));
  file = join(directory, 'svc.db');
  copyFileSync(full, file);
  schema = await postgresSchema(inject('postgresUrl'));
});
afterEach(() => schema.drop());

interface Column {
  name: string;
  type: string;
  notnull: number;
  pk: number;
}

/** Fills every table with rows of hostile values. Rows of one number reference each other. */
function fill(path: string, random: Random): void {
  const database = new Database(path);
  database.pragma('foreign_keys = off');
  database.pragma('journal_mode = delete');
  const texts = ['', 'plain', 'nul\0here', '😀 ü', '\\x41', '{"a":1}', 'x'.repeat(3_000), '007'];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random.float() * list.length)] as T;
  const columnsOf = (table: string) =>
    (database.pragma(`table_info(${table})`) as Column[]).map((column) => ({
      ...column,
      type: column.type.toLowerCase(),
    }));
  const referenceOf = (table: string, column: string) =>
    (database.pragma(`foreign_key_list(${table})`) as { from: string; table: string }[]).find(
      ({ from }) => from === column,
    )?.table;
  const keyOf = (table: string, column: string, row: number): string => {
    const parent = referenceOf(table, column);
    if (parent === undefined) return `${table}_${row}`;
    const [key] = columnsOf(parent).filter(({ pk }) => pk > 0);
    return keyOf(parent, key?.name ?? '', row);
  };
  for (const table of copiedTables()) {
    const columns = columnsOf(table);
    const marks = columns.map(() => '?').join(', ');
    database.exec(`delete from "${table}"`);
    const insert = database.prepare(`insert into "${table}" values (${marks})`);
    for (let row = 0; row < rowsOfTable; row++) {
      const values = columns.map(({ name, type, notnull, pk }) => {
        if (notnull === 0 && pk === 0 && random.float() < 0.3) return null;
        if (referenceOf(table, name) !== undefined) return keyOf(table, name, row);
        if (type === 'integer') return Math.floor((random.float() - 0.5) * 2 ** 32);
        if (type === 'smallint') return Math.floor((random.float() - 0.5) * 2 ** 16);
        if (type === 'bigint') return Math.floor((random.float() - 0.5) * 2 ** 54);
        if (type === 'blob') return Buffer.from(pick(texts));
        if (type !== 'text') return random.float() * 1e9;
        return pk > 0 ? `${table}_${row}` : `${pick(texts)}${row}`;
      });
      insert.run(...values);
    }
  }
  database.close();
}

async function onServer<Row extends object>(text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: schema.url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

const load = (path = file) => loadIntoPostgres(path, schema, silent);
const copyBack = (path: string) =>
  copyPostgres(schema, path, { clock: systemClock, onProgress: silent });

describe(`a copy (SEED=${seed})`, () => {
  it('from SQLite to PostgreSQL and back has the same rows in every table', async () => {
    const before = digestsOfFile(file);
    expect(before.map(({ rows }) => rows)).toEqual(before.map(() => rowsOfTable));
    expect(new Set(before.map(({ digest }) => digest)).size).toBe(before.length);
    expect(await load()).toEqual(before);
    const back = join(directory, 'back.db');
    expect(await copyBack(back)).toEqual(before);
    expect(digestsOfFile(back)).toEqual(before);

    // The words of all mail in threads are indexed again.
    const count = 'select count(*)::int as n from thread_search_waiting';
    expect(await onServer<{ n: number }>(count)).toEqual([{ n: rowsOfTable }]);
    const database = new Database(back, { readonly: true });
    const waiting = database.prepare('select count(*) from thread_search_waiting').pluck();
    expect(waiting.get()).toBe(rowsOfTable);
    database.close();

    const store = await openStore(schema, directory, systemClock, { mustExist: true });
    expect(await store.isWritable()).toBe(true);
    await store.close();
  });

  it('is refused by a database that holds a store, and changes nothing there', async () => {
    const store = await openStore(schema, directory, systemClock);
    await store.close();
    const error = await load().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConflictError);
    expect((error as Error).message).toMatch(/^The database holds a store already \(table \w+\)/);
    expect(await onServer('select * from organizations')).toEqual([]);
  });

  it('is refused while another one is under way', async () => {
    const client = new pg.Client({ connectionString: schema.url });
    await client.connect();
    await client.query('select pg_advisory_lock(7304026, hashtext(current_schema()))');
    await expect(load()).rejects.toThrow('Another copy into this database is under way');
    await client.end();
    await load();
  });
});

describe('an interrupted copy to PostgreSQL', () => {
  const last = copiedTables().at(-1) ?? '';

  /** Ends the load once this many tables are filled, as a kill would. */
  const interrupt = (path: string, after: number) =>
    loadIntoPostgres(path, schema, (done) => {
      if (done >= after) throw new Error('interrupted');
    });

  it('is refused as a store, and continues where it was', async () => {
    const tables = 20;
    await expect(interrupt(file, tables)).rejects.toThrow('interrupted');
    await expect(openStore(schema, directory, systemClock)).rejects.toThrow(
      /^The database holds an unfinished copy of a store: run "svc restore"/,
    );
    const marked = await onServer<{ n: number }>(
      'select cardinality(done)::int as n from unfinished_copy',
    );
    expect(marked).toEqual([{ n: tables }]);
    let resumedAt = Number.POSITIVE_INFINITY;
    const digests = await loadIntoPostgres(file, schema, (done) => {
      resumedAt = Math.min(resumedAt, done);
    });
    expect(resumedAt).toBe(tables + 1);
    expect(digests).toEqual(digestsOfFile(file));
  });

  it('of another file begins anew', async () => {
    await expect(interrupt(file, 30)).rejects.toThrow('interrupted');
    const other = join(directory, 'other.db');
    copyFileSync(file, other);
    const database = new Database(other);
    database.exec("update events set id = id || 'z'");
    database.close();
    expect(await load(other)).toEqual(digestsOfFile(other));
  });

  it('whose rows were changed meanwhile is not in use, and is filled anew by the next one', async () => {
    await expect(interrupt(file, copiedTables().length - 1)).rejects.toThrow('interrupted');
    await onServer("update organizations set name = 'other' where id = 'organizations_3'");
    const error = await load().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnreachableError);
    expect((error as Error).message).toContain(
      `organizations: ${rowsOfTable} rows here, ${rowsOfTable} there with another content`,
    );
    expect(await load()).toEqual(digestsOfFile(file));
    expect(last).not.toBe('');
  });
});

describe('the digests of a backup', () => {
  it.each(['sqlite', 'postgres'] as const)('are those of its store on %s', async (kind) => {
    const target = join(directory, 'backup.db');
    if (kind === 'postgres') await load();
    const source =
      kind === 'sqlite'
        ? ({ kind, file } as const)
        : ({ kind, database: schema, clock: systemClock } as const);
    await saveBackup(source, target, { overwrite: false, digests: true, onProgress: silent });
    expect(verifyBackup(target)).toMatchObject({ hasSecret: false, tables: digestsOfFile(file) });
  });

  it('name a table in which one character was changed', async () => {
    const target = join(directory, 'backup.db');
    const options = { overwrite: false, digests: true, onProgress: silent };
    await saveBackup({ kind: 'sqlite', file }, target, options);
    const database = new Database(target);
    database.exec("update contacts set created_at = 5 where id = 'contacts_2'");
    database.close();
    expect(() => verifyBackup(target)).toThrow(
      /was changed after it was made \(contacts: 7 rows here, 7 there with another content\)$/,
    );
  });

  it('change with each value of each column', () => {
    const database = new Database(file);
    database.pragma('foreign_keys = off');
    const seen = new Set<string>();
    let columns = 0;
    for (const table of ['contacts', 'messages', 'deliveries', 'contents']) {
      const all = database.pragma(`table_info(${table})`) as Column[];
      const key = all.find(({ pk }) => pk > 0)?.name;
      seen.add(JSON.stringify(digestsOfFile(file, [table])));
      for (const { name, pk } of all) {
        if (pk > 0) continue;
        const change = database.prepare(`update "${table}" set "${name}" =
          case when "${name}" is null then 1 when "${name}" = 'other' then 'next' else 'other' end
          where "${key}" = (select min("${key}") from "${table}")`);
        expect(change.run().changes).toBe(1);
        const found = JSON.stringify(digestsOfFile(file, [table]));
        expect([table, name, seen.has(found)]).toEqual([table, name, false]);
        seen.add(found);
        columns += 1;
      }
    }
    database.close();
    expect(columns).toBeGreaterThan(40);
  });
});
