// Type of a migration, with SQL in the dialect of an engine. The list is in migrate.ts.
import type { StoreKind } from './db.ts';

/** SQL words that differ between the engines. */
export interface EngineWords {
  engine: StoreKind;
  /**
   * Suffix of `create table`. On SQLite it keeps the rows in the index of the primary key, so that
   * an insert writes one B-tree less.
   */
  clustered: string;
  /** Type of binary data. */
  bytes: string;
  /**
   * Follows the type of a text column. Makes it compare bytes, as SQLite does, so that a prefix is
   * a range of values.
   */
  bytewise: string;
}

const words: Readonly<Record<StoreKind, EngineWords>> = {
  sqlite: { engine: 'sqlite', clustered: 'without rowid', bytes: 'blob', bytewise: '' },
  postgres: { engine: 'postgres', clustered: '', bytes: 'bytea', bytewise: 'collate "C"' },
};

export interface Migration {
  name: string;
  /**
   * Older versions with this migration go on working beside the new version, which only adds tables
   * and columns. Left out for a change that breaks them.
   */
  compatibleFrom?: string;
  /**
   * Returns the SQL. A comment has its own line, and a semicolon at the end of a line ends a
   * statement. The first sentence of the comment above a table is the table's description in
   * docs/making/tables.md.
   */
  sql(words: EngineWords): string;
}

/** Returns the SQL of a migration with all comments. */
export function sqlOf(migration: Migration, engine: StoreKind): string {
  return migration.sql(words[engine]);
}

/**
 * Returns the statements of a migration without comments, which SQLite would store with each
 * definition.
 */
export function statementsOf(migration: Migration, engine: StoreKind): string[] {
  return sqlOf(migration, engine)
    .replaceAll(/^\s+(--.*\n)?|^--.*\n/gm, (found) => (found.includes('--') ? '' : found))
    .split(/;$/m)
    .map((text) => text.trim())
    .filter((text) => text !== '');
}
