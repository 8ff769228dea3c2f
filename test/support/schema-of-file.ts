// Reads the schema of a SQLite store over and over. A connection stays open between the reads:
// SQLite parses the whole schema for each new connection, which takes longer than the comparison.
import { statSync } from 'node:fs';
import Database from 'better-sqlite3';

const readers = new Map<string, { database: Database.Database; inode: number }>();

/** Returns a connection to the file that is at the path now: a command may replace the file. */
function readerOf(file: string): Database.Database {
  const inode = statSync(file).ino;
  const known = readers.get(file);
  if (known?.inode === inode) return known.database;
  known?.database.close();
  const database = new Database(file, { readonly: true });
  readers.set(file, { database, inode });
  return database;
}

/** Returns everything that a migration could change. */
export function schemaOfFile(file: string): unknown {
  const database = readerOf(file);
  return [
    database.prepare('select name, sql from sqlite_master order by name').all(),
    database.prepare('select * from migrations order by name').all(),
  ];
}

/** Closes the connection, after the last read. */
export function closeSchemaReader(file: string): void {
  readers.get(file)?.database.close();
  readers.delete(file);
}
