// All SQL on `service_findings`, the findings of the daily examination. Also reads version,
// settings and size of the database.
import { sql } from 'kysely';
import { type Db, engineOf, tables } from '../platform/store/db.ts';
import { ownTables } from '../platform/store/own-tables.ts';
import type { FindingStatus } from './finding.ts';

export interface FindingRow {
  name: string;
  status: FindingStatus;
  found: string;
  changed_at: number;
}

interface FindingTables {
  service_findings: FindingRow;
}

const own = ownTables<FindingTables>();

/** Returns the findings of the last examination by name. */
export const selectFindings = own.all((db) =>
  db.selectFrom('service_findings').selectAll().orderBy('name'),
);

/** Stores a finding, in place of the earlier finding of the same check. */
export async function putFinding(db: Db, row: FindingRow): Promise<void> {
  const { name: _name, ...values } = row;
  await tables<FindingTables>(db)
    .insertInto('service_findings')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
    .execute();
}

/** Returns name and version of the store's engine, as people write them. */
export async function engineVersion(db: Db): Promise<string> {
  const isPostgres = engineOf(db) === 'postgres';
  const query = isPostgres
    ? sql<{ version: string }>`select current_setting('server_version') as version`
    : sql<{ version: string }>`select sqlite_version() as version`;
  const { rows } = await query.execute(db);
  return `${isPostgres ? 'PostgreSQL' : 'SQLite'} ${rows[0]?.version}`;
}

/**
 * Returns the PostgreSQL settings that are off although a crash of the server can then lose or
 * damage commits.
 */
export async function unsafeSettings(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
    order by name`.execute(db);
  return rows.map(({ name }) => name);
}

export interface DatabaseSize {
  tableBytes: number;
  indexBytes: number;
  /** The table with the most dead rows; null if the database has no tables. */
  worst: { name: string; dead: number; live: number } | null;
  /** Age of the oldest open transaction in this database, in seconds. */
  oldestSeconds: number;
}

/** Returns the sizes of all tables and of all indexes on PostgreSQL. */
async function relationSizes(db: Db): Promise<Pick<DatabaseSize, 'tableBytes' | 'indexBytes'>> {
  const { rows } = await sql<{ tables: number; indexes: number }>`
    select coalesce(sum(pg_table_size(oid)), 0)::float8 as tables,
      coalesce(sum(pg_indexes_size(oid)), 0)::float8 as indexes
    from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'`.execute(
    db,
  );
  return { tableBytes: rows[0]?.tables ?? 0, indexBytes: rows[0]?.indexes ?? 0 };
}

/** Returns the sizes of the store on PostgreSQL, the dead rows and the oldest transaction. */
export async function databaseSize(db: Db): Promise<DatabaseSize> {
  const worst = sql<{ name: string; dead: number; live: number }>`
    select relname as name, n_dead_tup::float8 as dead, n_live_tup::float8 as live
    from pg_stat_user_tables where schemaname = current_schema()
    order by n_dead_tup desc limit 1`;
  const oldest = sql<{ seconds: number }>`
    select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float8 as seconds
    from pg_stat_activity where datname = current_database() and xact_start is not null`;
  return {
    ...(await relationSizes(db)),
    worst: (await worst.execute(db)).rows[0] ?? null,
    oldestSeconds: (await oldest.execute(db)).rows[0]?.seconds ?? 0,
  };
}

/**
 * Returns the bytes of the whole store with indexes, and the free bytes of deleted rows.
 * `freeBytes` is null on PostgreSQL.
 */
export async function storeSize(db: Db): Promise<{ storeBytes: number; freeBytes: number | null }> {
  if (engineOf(db) === 'postgres') {
    const { tableBytes, indexBytes } = await relationSizes(db);
    return { storeBytes: tableBytes + indexBytes, freeBytes: null };
  }
  const { rows } = await sql<{ pages: number; free: number; size: number }>`
    select pages.page_count as pages, free.freelist_count as free, size.page_size as size
    from pragma_page_count() pages, pragma_freelist_count() free, pragma_page_size() size`.execute(
    db,
  );
  const { pages, free, size } = rows[0] ?? { pages: 0, free: 0, size: 0 };
  return { storeBytes: pages * size, freeBytes: free * size };
}
