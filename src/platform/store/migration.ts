// Type of a migration: SQL in the dialect of an engine. migrate.ts lists the migrations.
import type { StoreKind } from './db.ts';

/** SQL words that differ between the engines. */
export interface EngineWords {
  engine: StoreKind;
  /**
   * Suffix of `create table`. On SQLite the rows are then in the index of the primary key, so that
   * an insert writes a B-tree less.
   */
  clustered: string;
  /** SQL type of a column with binary data. */
  bytes: string;
  /**
   * Suffix for the type of a text column. On PostgreSQL the column then compares bytes, as on
   * SQLite, so that a prefix is a range of values.
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
   * Name of the migration from which older versions still work beside the new version, because this
   * migration only adds tables and columns. Absent if older versions break.
   */
  compatibleFrom?: string;
  /**
   * Returns the SQL. Comments are on separate lines, and a semicolon at the end of a line ends a
   * statement. The first sentence of the comment above a table describes the table in
   * docs/making/tables.md.
   */
  sql(words: EngineWords): string;
}

/** Returns the SQL of a migration with all comments. */
export function sqlOf(migration: Migration, engine: StoreKind): string {
  return migration.sql(words[engine]);
}

/**
 * Returns the statements of a migration without comments, which SQLite would store with the
 * definitions.
 */
export function statementsOf(migration: Migration, engine: StoreKind): string[] {
  return sqlOf(migration, engine)
    .replaceAll(/^\s+(--.*\n)?|^--.*\n/gm, (found) => (found.includes('--') ? '' : found))
    .split(/;$/m)
    .map((text) => text.trim())
    .filter((text) => text !== '');
}
