// The tables that a copy of a store contains, with the SQL of each engine to read or fill them.
import Database from 'better-sqlite3';
import { knownAmong, migratedTables } from '../../store/migrate.ts';
import type { Migration } from '../../store/migration.ts';
import { DigestOfTable, type TableDigest } from './digest.ts';

/**
 * Tables that are not copied: the list of migrations, the full-text index, refilled later, and
 * sessions and links of the console and of domains, which end with the copied store.
 */
const leftOut: readonly string[] = [
  ...['migrations', 'compatible_versions'],
  ...['thread_search', 'thread_search_waiting'],
  ...['console_sessions', 'console_links', 'mailed_links', 'used_challenges'],
  'domain_links',
];

/** Returns the names of the tables that a copy has; they follow from the schema of the store. */
export function copiedTables(known?: readonly Migration[]): string[] {
  return migratedTables(known)
    .filter((name) => !leftOut.includes(name))
    .toSorted((a, b) => (a < b ? -1 : 1));
}

/** SQL for both engines that queues all messages of threads for the full-text index of a daemon. */
export const refillWords = `insert into thread_search_waiting (message_id, mailbox_id)
  select placed.message_id, thread.mailbox_id
  from thread_messages placed join threads thread on thread.id = placed.thread_id`;

/** Returns the rows that this SQL selects from a SQLite file. */
export function listIn(file: string, { sql }: { sql: string }): unknown[] {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

/** Runs the SQL of these changes on a SQLite file, each in a separate transaction. */
export function changeIn(file: string, changes: readonly { sql: string }[]): void {
  const database = new Database(file, { fileMustExist: true });
  try {
    for (const { sql } of changes) database.exec(sql);
  } finally {
    database.close();
  }
}

/** Returns the migrations applied in a SQLite file. */
export function migrationsOf(file: Database.Database): Migration[] {
  return knownAmong(file.prepare('select name from migrations').pluck().all() as string[]);
}

/** Returns the columns of a table of a SQLite file. */
export function columnsOf(file: Database.Database, table: string): string[] {
  return (file.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
}

/** Returns digests of tables in a SQLite file, by default of all copied tables. Reads the file. */
export function digestsOfFile(path: string, tables?: readonly string[]): TableDigest[] {
  const file = new Database(path, { readonly: true, fileMustExist: true });
  try {
    return (tables ?? copiedTables(migrationsOf(file))).map((table) => {
      const columns = columnsOf(file, table);
      const digest = new DigestOfTable(table, columns);
      for (const row of rowsOf(file, table, columns)) digest.add(row);
      return digest.result();
    });
  } finally {
    file.close();
  }
}

/** Reads the rows of a table of a SQLite file, a row at a time. */
export function rowsOf(
  file: Database.Database,
  table: string,
  columns: readonly string[],
): IterableIterator<unknown[]> {
  const list = columns.map((name) => `"${name}"`).join(', ');
  const rows = file.prepare(`select ${list} from "${table}"`).raw().iterate();
  return rows as IterableIterator<unknown[]>;
}
