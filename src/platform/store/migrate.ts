// Runs migrations: only forward, in order, in a single process at a time, and each whole or not at
// all. Kysely's Migrator is not used: it takes no lock on SQLite, and two daemons may start at
// once. Commands only compare the schema.
import { sql } from 'kysely';
import { CapacityError, codeOf, OlderStoreError, UnreachableError } from '../errors.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Db, engineOf, type Store, type StoreKind } from './db.ts';
import { type Migration, statementsOf } from './migration.ts';
import { schema } from './schema/schema.ts';

/**
 * All migrations in order. Until 0.1.0 the schema is edited in place, and a hash of the statements
 * names it. A released migration is never edited: a change needs a new migration.
 */
export const migrations: readonly Migration[] = [schema];

/**
 * Last commit with the migrations before the first release, and the first migration of a store from
 * that commit.
 */
const lastBefore = { commit: '5d01c51fd023', migration: '0001-schema' };

export interface MigrationStatus {
  name: string;
  appliedAt: number | null;
}

/** Key of our lock among the server's advisory locks: an arbitrary constant. */
const advisoryLock = 7_304_025;
const lockPatienceMs = 60_000;

async function hasTable(db: Db, name: string): Promise<boolean> {
  const found =
    engineOf(db) === 'sqlite'
      ? sql`select 1 from sqlite_master where name = ${name}`
      : sql`select 1 from pg_class where oid = to_regclass(${name})`;
  return (await found.execute(db)).rows.length > 0;
}

async function appliedMigrations(db: Db): Promise<Map<string, number>> {
  if (!(await hasTable(db, 'migrations'))) return new Map();
  const { rows } = await sql<{ name: string; applied_at: number }>`
    select name, applied_at from migrations`.execute(db);
  return new Map(rows.map((row) => [row.name, row.applied_at]));
}

/** Tells whether the database is a store: it has applied migrations. */
export async function hasMigrations(db: Db): Promise<boolean> {
  return (await appliedMigrations(db)).size > 0;
}

/**
 * Returns every migration that this version knows, with the time when it was applied; then applied
 * migrations of other versions.
 */
export async function migrationStatus(db: Db): Promise<MigrationStatus[]> {
  const applied = await appliedMigrations(db);
  const known = migrations.map(({ name }) => ({ name, appliedAt: applied.get(name) ?? null }));
  const unknown = [...applied].filter(([name]) => !migrations.some((m) => m.name === name));
  return [...known, ...unknown.map(([name, appliedAt]) => ({ name, appliedAt }))];
}

/**
 * Returns the applied migrations that this version knows: all, or the migrations of an earlier
 * schema.
 */
export function knownAmong(applied: readonly string[]): Migration[] {
  return migrations.filter(({ name }) => applied.includes(name));
}

/** Returns the names of the tables of a schema on PostgreSQL, including the table of migrations. */
export function migratedTables(known: readonly Migration[] = migrations): string[] {
  const texts = known.flatMap((migration) => statementsOf(migration, 'postgres'));
  const made = texts.flatMap((text) => [
    ...text.matchAll(/create table (?:if not exists )?(\w+)/gi),
  ]);
  return [...new Set(['migrations', ...made.map(([, name = '']) => name)])];
}

/** Returns the statements that make a schema, without the rows in `migrations`. */
export function schemaStatements(engine: StoreKind, known: readonly Migration[]): string[] {
  return known.flatMap((migration) => statementsOf(migration, engine));
}

/**
 * Returns the reason why this version cannot use a store with these applied migrations, as a text
 * after "The store"; null if it can. `compatibleFrom` has the migrations of newer versions with
 * which older versions still work.
 */
export function foreignSchema(
  applied: readonly string[],
  known: readonly Migration[] = migrations,
  compatibleFrom: ReadonlyMap<string, string> = new Map(),
): string | null {
  const isKnown = (name: string | undefined) => known.some((m) => m.name === name);
  const unknown = applied.filter((name) => !isKnown(name) && !isKnown(compatibleFrom.get(name)));
  if (unknown.length === 0) return null;
  if (applied.includes(known[0]?.name ?? '')) {
    return `is of a newer version of svc (migration ${unknown.join(', ')}): use that version`;
  }
  const { commit, migration } = lastBefore;
  const opener = applied.includes(migration)
    ? `commit ${commit}, the last that opens it`
    : 'that version';
  return (
    `is of a version of svc from before the first release (migration ${unknown[0]}), which has no ` +
    `upgrade: use ${opener}, or start with a new dataDir or database.url`
  );
}

/** Describes the foreign schema of a store; null for a schema that this version can use. */
export async function foreignSchemaOf(
  db: Db,
  known: readonly Migration[] = migrations,
): Promise<string | null> {
  const applied = await appliedMigrations(db);
  const compatible = await compatibleMigrations(db, applied, known);
  return foreignSchema([...applied.keys()], known, compatible);
}

/**
 * Describes how an earlier schema differs from this version's schema, as a text after "The store";
 * null for the same or a later schema.
 */
export async function earlierSchemaOf(
  db: Db,
  known: readonly Migration[] = migrations,
): Promise<string | null> {
  const applied = await appliedMigrations(db);
  const missing = known.findLast(({ name }) => !applied.has(name));
  if (!missing) return null;
  const last = known.findLast(({ name }) => applied.has(name));
  return `is of migration ${last?.name ?? 'none'}, this svc needs ${missing.name}`;
}

/** Next step for the owner of a store with an earlier schema. */
export const startToMigrate = 'start the daemon of this version first';

/**
 * Compares the schema without changing it.
 * @throws UnreachableError if a different version wrote the store; OlderStoreError for an earlier
 * schema, unless it is allowed
 */
export async function checkSchema(
  db: Db,
  known: readonly Migration[],
  { allowsEarlier }: { allowsEarlier: boolean },
): Promise<void> {
  const foreign = await foreignSchemaOf(db, known);
  if (foreign) throw new UnreachableError(`The store ${foreign}`);
  const earlier = allowsEarlier ? null : await earlierSchemaOf(db, known);
  if (earlier) throw new OlderStoreError(`The store ${earlier}: ${startToMigrate}`);
}

/**
 * Brings the schema up to date. If migrations are pending and the store is not empty,
 * `beforeChange` runs first, to copy a SQLite file.
 * @returns the names that were applied now.
 * @throws UnreachableError if a different version wrote the store, or a second process migrates it
 * for over `patienceMs`.
 */
export async function migrate(
  store: Store,
  clock: Clock,
  beforeChange: () => Promise<void>,
  known: readonly Migration[] = migrations,
  patienceMs = lockPatienceMs,
): Promise<string[]> {
  await checkSchema(store.db, known, { allowsEarlier: true });
  const applied = await appliedMigrations(store.db);
  if (known.every(({ name }) => applied.has(name))) return [];
  if (applied.size > 0) await beforeChange();
  else await refuseUnfinishedCopy(store.db);
  try {
    return await store.write((trx) => runPending(trx, { clock, known, patienceMs }));
  } catch (error) {
    if (!(error instanceof CapacityError) || codeOf(error.cause) !== lockTaken) throw error;
    throw new UnreachableError(
      `Another process migrates the store (${await holderOfLock(store.db)}): start again when it has ended`,
    );
  }
}

/**
 * Returns the migrations of newer versions with which older versions still work. Reads the table
 * only if a newer migration is applied.
 */
async function compatibleMigrations(
  db: Db,
  applied: ReadonlyMap<string, number>,
  known: readonly Migration[],
): Promise<Map<string, string>> {
  const hasNewer = [...applied.keys()].some((name) => !known.some((m) => m.name === name));
  if (!hasNewer || !(await hasTable(db, 'compatible_versions'))) return new Map();
  const { rows } = await sql<{ name: string; compatible_from: string }>`
    select name, compatible_from from compatible_versions`.execute(db);
  return new Map(rows.map((row) => [row.name, row.compatible_from]));
}

/** Refuses a schema that a copy has not filled yet (to-postgres.ts). @throws UnreachableError */
async function refuseUnfinishedCopy(db: Db): Promise<void> {
  if (engineOf(db) === 'sqlite') return;
  const { rows } = await sql<{ name: string | null }>`
    select to_regclass('unfinished_copy')::text as name`.execute(db);
  if (rows[0]?.name == null) return;
  throw new UnreachableError(
    'The database holds an unfinished copy of a store: run "svc restore" or "svc migrate copy" again',
  );
}

/**
 * Keeps other processes from migrating until the transaction ends. The lock ends with the
 * connection, so a process that died has no lock.
 */
async function lockMigrations(trx: Db, patienceMs: number): Promise<void> {
  await sql.raw(`set local lock_timeout = ${patienceMs}`).execute(trx);
  await sql`select pg_advisory_xact_lock(${advisoryLock})`.execute(trx);
  await sql`set local lock_timeout to default`.execute(trx);
}

/** SQLSTATE of a wait for a lock that took too long. */
const lockTaken = '55P03';

/** Describes the process that migrates, as its connection reports. */
async function holderOfLock(db: Db): Promise<string> {
  const { rows } = await sql<{ name: string; pid: number; seconds: number }>`
    select coalesce(nullif(application_name, ''), 'without a name') as name, l.pid,
      coalesce(extract(epoch from clock_timestamp() - xact_start), 0)::int as seconds
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.granted and l.objid = ${advisoryLock}
      and l.database = (select oid from pg_database where datname = current_database())
    limit 1`.execute(db);
  const [holder] = rows;
  if (!holder) return 'which has just ended';
  return `${holder.name}, for ${holder.seconds} s, connection ${holder.pid} of the server`;
}

async function runPending(
  trx: Db,
  { clock, known, patienceMs }: { clock: Clock; known: readonly Migration[]; patienceMs: number },
): Promise<string[]> {
  if (engineOf(trx) === 'postgres') await lockMigrations(trx, patienceMs);
  // The list is read again under the lock, because another process may have migrated.
  const done = await appliedMigrations(trx);
  const run: string[] = [];
  for (const migration of known) {
    if (done.has(migration.name)) continue;
    for (const text of statementsOf(migration, engineOf(trx))) await sql.raw(text).execute(trx);
    await sql`insert into migrations (name, applied_at) values (${migration.name}, ${clock.now()})`.execute(
      trx,
    );
    run.push(migration.name);
  }
  await recordCompatible(trx, run, known);
  return run;
}

/** Records the applied migrations with which older versions still work. */
async function recordCompatible(
  trx: Db,
  run: readonly string[],
  known: readonly Migration[],
): Promise<void> {
  for (const { name, compatibleFrom } of known) {
    if (compatibleFrom === undefined || !run.includes(name)) continue;
    await sql`insert into compatible_versions (name, compatible_from)
      values (${name}, ${compatibleFrom})`.execute(trx);
  }
}
