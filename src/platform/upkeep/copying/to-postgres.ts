// Loads a SQLite file of ours into an empty schema of PostgreSQL, a table at a time. Until the end
// the schema has the table `unfinished_copy` and no list of migrations, so that it cannot be taken
// for a store. An interrupted load continues with the next table, if the file is the same.
//
//   schema has                          | then
//   ------------------------------------+-------------------------------------------------------------
//   no table of ours                    | tables are made, with `unfinished_copy`
//   `unfinished_copy` of this file      | the finished tables stay, the others are filled
//   `unfinished_copy` of another file   | all tables are filled anew
//   a list of migrations, or our tables | refused: it is a store, or not ours
import Database from 'better-sqlite3';
import type pg from 'pg';
import { ConflictError, UnreachableError } from '../../errors.ts';
import { migratedTables, schemaStatements } from '../../store/migrate.ts';
import type { DatabaseSettings } from '../../store/postgres/settings.ts';
import { withoutNul } from '../../store/rows/without-nul.ts';
import { DigestOfTable, differences, type TableDigest } from './digest.ts';
import { batchesOf, connectForCopy } from './server.ts';
import {
  columnsOf,
  copiedTables,
  digestsOfFile,
  migrationsOf,
  refillWords,
  rowsOf,
} from './tables.ts';

/** Largest insert statement of a copy. */
const most = { rows: 1_000, bytes: 8 * 1024 * 1024 };
/** Key of the lock of a load among the server's advisory locks: an arbitrary constant. */
const advisoryLock = 7_304_026;

interface Load {
  client: pg.Client;
  file: Database.Database;
  onProgress: (done: number, total: number) => void;
}

/**
 * Fills the schema of `database` with the rows of a SQLite file that nobody changes, and compares
 * both. `changes` are made last, after the comparison.
 * @returns the digests of the tables
 * @throws ConflictError if the schema is in use; UnreachableError if the server cannot be reached,
 * or has different rows than the file
 */
export async function loadIntoPostgres(
  path: string,
  database: DatabaseSettings,
  onProgress: Load['onProgress'],
  changes: readonly { sql: string }[] = [],
): Promise<TableDigest[]> {
  const client = await connectForCopy(database);
  const file = new Database(path, { readonly: true, fileMustExist: true });
  try {
    await lockSchema(client);
    const load = { client, file, onProgress };
    const done = await beginOrResume(load);
    await loadTables(load, done);
    const digests = await compare(load, path);
    await finish(load, changes);
    return digests;
  } finally {
    file.close();
    await client.end();
  }
}

async function lockSchema(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ isLocked: boolean }>(
    `select pg_try_advisory_lock(${advisoryLock}, hashtext(current_schema())) as "isLocked"`,
  );
  if (rows[0]?.isLocked) return;
  throw new ConflictError(
    'store',
    'Another copy into this database is under way: wait for its end',
  );
}

/** Identifies the content of a file by numbers in the header and the greatest id of an event. */
function sourceOf(file: Database.Database): string {
  const versions = ['schema_version', 'page_count', 'user_version'].map((name) =>
    file.pragma(name, { simple: true }),
  );
  const newest = file.prepare('select max(id) from events').pluck().get();
  return [...versions, newest].join(':');
}

/** Makes the schema, or finds an interrupted load. Returns the tables that are already filled. */
async function beginOrResume({ client, file }: Load): Promise<string[]> {
  const source = sourceOf(file);
  const { rows } = await client.query<{ name: string }>(
    'select tablename as name from pg_tables where schemaname = current_schema()',
  );
  const there = new Set(rows.map(({ name }) => name));
  if (there.has('unfinished_copy')) {
    const { rows: marks } = await client.query<{ source: string; done: string[] }>(
      'select source, done from unfinished_copy',
    );
    const [mark] = marks;
    if (mark?.source === source) return mark.done;
    await client.query("update unfinished_copy set source = $1, done = '{}'", [source]);
    return [];
  }
  const ours = migratedTables().filter((name) => there.has(name));
  if (ours.length > 0) {
    throw new ConflictError(
      'store',
      `The database holds a store already (table ${ours[0]}): name an empty database or schema`,
    );
  }
  await inTransaction(client, async () => {
    for (const text of schemaStatements('postgres', migrationsOf(file))) await client.query(text);
    await client.query('create table unfinished_copy (source text not null, done text[] not null)');
    await client.query("insert into unfinished_copy values ($1, '{}')", [source]);
  });
  return [];
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  try {
    await work();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Orders the tables, so that each comes after the tables that it references. */
async function inOrderOfReferences({ client, file }: Load): Promise<string[]> {
  const { rows } = await client.query<{ child: string; parent: string }>(
    `select child.relname as child, parent.relname as parent
      from pg_constraint found
        join pg_class child on child.oid = found.conrelid
        join pg_class parent on parent.oid = found.confrelid
      where found.contype = 'f' and child.relnamespace = current_schema()::regnamespace
        and child.oid <> parent.oid`,
  );
  const ordered: string[] = [];
  const place = (name: string, below: readonly string[]): void => {
    if (ordered.includes(name) || below.includes(name)) return;
    for (const { child, parent } of rows) if (child === name) place(parent, [...below, name]);
    ordered.push(name);
  };
  const copied = copiedTables(migrationsOf(file));
  for (const name of copied) place(name, []);
  return ordered.filter((name) => copied.includes(name));
}

async function loadTables(load: Load, done: readonly string[]): Promise<void> {
  const names = await inOrderOfReferences(load);
  // Tables with references are emptied first, before the tables that they reference.
  const open = names.filter((name) => !done.includes(name));
  await inTransaction(load.client, async () => {
    for (const name of open.toReversed()) await load.client.query(`delete from "${name}"`);
  });
  for (const name of names) {
    if (done.includes(name)) continue;
    await inTransaction(load.client, async () => {
      await loadTable(load, name);
      await load.client.query('update unfinished_copy set done = done || $1::text', [name]);
    });
    load.onProgress(names.indexOf(name) + 1, names.length);
  }
}

async function loadTable({ client, file }: Load, name: string): Promise<void> {
  const columns = columnsOf(file, name);
  const { rows: known } = await client.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [name],
  );
  const types = new Map(known.map((column) => [column.name, column.type]));
  const list = columns.map((column) => `"${column}"`).join(', ');
  const arrays = columns.map((column, index) => `$${index + 1}::${types.get(column)}[]`).join(', ');
  const text = `insert into "${name}" (${list}) select * from unnest(${arrays})`;
  let batch: unknown[][] = [];
  let bytes = 0;
  const flush = async () => {
    if (batch.length === 0) return;
    const values = columns.map((_, index) => batch.map((row) => withoutNul(row[index])));
    await client.query({ text, values });
    batch = [];
    bytes = 0;
  };
  for (const row of rowsOf(file, name, columns)) {
    batch.push(row);
    for (const value of row) {
      if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length;
    }
    if (batch.length >= most.rows || bytes >= most.bytes) await flush();
  }
  await flush();
}

/**
 * Compares all rows in PostgreSQL with the file, and returns their digests.
 * @throws UnreachableError for different rows; the next load then fills all tables again
 */
async function compare({ client, file }: Load, path: string): Promise<TableDigest[]> {
  const expected = digestsOfFile(path);
  const found: TableDigest[] = [];
  for (const { table } of expected) {
    const columns = columnsOf(file, table);
    const digest = new DigestOfTable(table, columns);
    await inTransaction(client, async () => {
      for await (const rows of batchesOf(client, table, columns))
        for (const row of rows) digest.add(row);
    });
    found.push(digest.result());
  }
  const wrong = differences(expected, found);
  if (wrong.length === 0) return found;
  await client.query("update unfinished_copy set done = '{}'");
  throw new UnreachableError(
    `PostgreSQL holds other rows than the file (${wrong.join('; ')}): the copy is not in use, repeat it`,
  );
}

/** Adds the list of migrations last, which makes the schema a store. Applies `changes` before. */
async function finish({ client, file }: Load, changes: readonly { sql: string }[]): Promise<void> {
  const applied = file.prepare('select name, applied_at from migrations').all() as {
    name: string;
    applied_at: number;
  }[];
  await inTransaction(client, async () => {
    await client.query('delete from thread_search_waiting');
    await client.query(refillWords);
    for (const { sql } of changes) await client.query(sql);
    for (const { name, compatibleFrom } of migrationsOf(file)) {
      const at = applied.find((one) => one.name === name)?.applied_at ?? 0;
      await client.query('insert into migrations (name, applied_at) values ($1, $2)', [name, at]);
      if (compatibleFrom === undefined) continue;
      const values = [name, compatibleFrom];
      await client.query('insert into compatible_versions values ($1, $2)', values);
    }
    await client.query('drop table unfinished_copy');
  });
  await client.query('analyze');
}
