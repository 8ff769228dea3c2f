// Copies a store on PostgreSQL into one file of SQLite, as of one moment. Read by a cursor, so that a large table never is
// in memory. The index of words is left out: it fills again.
import Database from 'better-sqlite3';
import pg from 'pg';
import type { Clock } from '../runtime/clock.ts';
import { migratedTables } from './migrate.ts';
import { openStore } from './open.ts';
import { types } from './postgres.ts';

const rowsAtOnce = 2_000;
const leftOut: readonly string[] = ['migrations', 'thread_search', 'thread_search_waiting'];

/**
 * Writes all rows of the store at `url` into a new store `svc.db` in `dataDir`.
 * @throws UnreachableError if the server cannot be reached
 */
export async function copyPostgres(
  url: string,
  dataDir: string,
  { clock, onProgress }: { clock: Clock; onProgress: (done: number, total: number) => void },
): Promise<void> {
  const made = await openStore('sqlite:svc.db', dataDir, clock);
  await made.close();
  const client = new pg.Client({ connectionString: url, types });
  const file = new Database(`${dataDir}/svc.db`);
  await client.connect();
  try {
    file.pragma('foreign_keys = off');
    await client.query('begin isolation level repeatable read read only');
    const names = migratedTables().filter((name) => !leftOut.includes(name));
    for (const [index, name] of names.entries()) {
      await copyTable(client, file, name);
      onProgress(index + 1, names.length);
    }
    await client.query('commit');
  } finally {
    file.close();
    await client.end();
  }
}

async function copyTable(client: pg.Client, file: Database.Database, name: string): Promise<void> {
  const columns = (file.pragma(`table_info(${name})`) as { name: string }[]).map((one) => one.name);
  const list = columns.map((column) => `"${column}"`).join(', ');
  const marks = columns.map(() => '?').join(', ');
  // The first start of the copy made some rows, such as counters.
  file.exec(`delete from "${name}"`);
  const insert = file.prepare(`insert into "${name}" (${list}) values (${marks})`);
  const insertAll = file.transaction((rows: unknown[][]) => {
    for (const row of rows) insert.run(...row.map(asSqlite));
  });
  await client.query(`declare copied no scroll cursor for select ${list} from "${name}"`);
  for (;;) {
    const { rows } = await client.query<unknown[]>({
      text: `fetch ${rowsAtOnce} from copied`,
      rowMode: 'array',
    });
    insertAll(rows);
    if (rows.length < rowsAtOnce) break;
  }
  await client.query('close copied');
}

function asSqlite(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  return value;
}
