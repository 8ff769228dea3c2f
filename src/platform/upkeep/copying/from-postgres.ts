// Copies a store on PostgreSQL into a SQLite file, as of a single moment: all reads share a
// snapshot.
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import type pg from 'pg';
import { UnreachableError } from '../../errors.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { knownAmong } from '../../store/migrate.ts';
import { openStore, readMigrationStatus } from '../../store/open.ts';
import type { DatabaseSettings } from '../../store/postgres/settings.ts';
import { removeWithCompanions } from '../../store/sqlite/database-files.ts';
import { DigestOfTable, differences, type TableDigest } from './digest.ts';
import { batchesOf, connectForCopy, rowsAtOnce } from './server.ts';
import { columnsOf, copiedTables, digestsOfFile, migrationsOf, refillWords } from './tables.ts';

export interface CopyOptions {
  clock: Clock;
  /** Whether to pause between reads, for a database that daemons use. */
  rests?: boolean | undefined;
  onProgress: (done: number, total: number) => void;
}

/**
 * Writes all rows of the store of `database` into a new SQLite file of the same schema, and
 * verifies the file.
 * @returns the digests of all tables
 * @throws UnreachableError if the server cannot be reached, or the file differs from the store
 */
export async function copyPostgres(
  database: DatabaseSettings,
  path: string,
  options: CopyOptions,
): Promise<TableDigest[]> {
  removeWithCompanions(path);
  const status = await readMigrationStatus(database, '');
  const known = knownAmong(status.flatMap((one) => (one.appliedAt === null ? [] : one.name)));
  const url = `sqlite:${resolve(path)}`;
  await (await openStore({ url }, dirname(path), options.clock, { known })).close();
  const read = await readInto(path, database, options);
  const written = digestsOfFile(path);
  const wrong = differences(read, written);
  if (wrong.length > 0) {
    throw new UnreachableError(`The copy ${path} differs from the store (${wrong.join('; ')})`);
  }
  return written;
}

async function readInto(
  path: string,
  database: DatabaseSettings,
  { clock, rests = false, onProgress }: CopyOptions,
): Promise<TableDigest[]> {
  const client = await connectForCopy(database);
  const file = new Database(path);
  try {
    file.pragma('foreign_keys = off');
    await client.query('begin isolation level repeatable read read only');
    const names = copiedTables(migrationsOf(file));
    const digests: TableDigest[] = [];
    for (const [index, name] of names.entries()) {
      digests.push(await copyTable(client, file, { name, clock, rests }));
      onProgress(index + 1, names.length);
    }
    await client.query('commit');
    file.exec(refillWords);
    return digests;
  } finally {
    file.close();
    await client.end();
  }
}

/**
 * Copies a table. With `rests`, pauses after each full batch for as long as the batch took, so that
 * mail continues meanwhile.
 */
async function copyTable(
  client: pg.Client,
  file: Database.Database,
  { name, clock, rests }: { name: string; clock: Clock; rests: boolean },
): Promise<TableDigest> {
  const columns = columnsOf(file, name);
  const digest = new DigestOfTable(name, columns);
  const list = columns.map((column) => `"${column}"`).join(', ');
  const marks = columns.map(() => '?').join(', ');
  // The first migration inserted some rows, such as counters.
  file.exec(`delete from "${name}"`);
  const insert = file.prepare(`insert into "${name}" (${list}) values (${marks})`);
  const insertAll = file.transaction((rows: unknown[][]) => {
    for (const row of rows) {
      insert.run(...row);
      digest.add(row);
    }
  });
  let beganAt = clock.elapsed();
  for await (const rows of batchesOf(client, name, columns)) {
    insertAll(rows);
    if (rests && rows.length === rowsAtOnce) await sleep(clock, clock.elapsed() - beganAt);
    beganAt = clock.elapsed();
  }
  return digest.result();
}
