// Runs migrations: forward only, in order, one process at a time, each all or nothing. Kysely's Migrator is
// not used: it takes no lock on SQLite, and a command may start beside a daemon.
import { sql } from 'kysely';
import { UnreachableError } from '../errors.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Db, engineOf, type Store } from './db.ts';
import { type Migration, statementsOf } from './migration.ts';
import { schema } from './migrations/0001-schema.ts';
import { keyRotations } from './migrations/0002-key-rotations.ts';
import { actionsOfAnOrganization } from './migrations/0003-actions-of-an-organization.ts';
import { deferringPlans } from './migrations/0004-deferring-plans.ts';
import { brands } from './migrations/0005-brands.ts';
import { templates } from './migrations/0006-templates.ts';
import { git } from './migrations/0007-git.ts';
import { campaigns } from './migrations/0008-campaigns.ts';
import { extensions } from './migrations/0009-extensions.ts';
import { sendingDomains } from './migrations/0010-sending-domains.ts';
import { senderProofs } from './migrations/0011-sender-proofs.ts';
import { serviceFindings } from './migrations/0012-service-findings.ts';
import { console } from './migrations/0013-console.ts';

/** All migrations in order. One that has been released is never edited: a change is a new migration. */
export const migrations: readonly Migration[] = [
  schema,
  keyRotations,
  actionsOfAnOrganization,
  deferringPlans,
  brands,
  templates,
  git,
  campaigns,
  extensions,
  sendingDomains,
  senderProofs,
  serviceFindings,
  console,
];

export interface MigrationStatus {
  name: string;
  appliedAt: number | null;
}

/** Key of our lock among the server's advisory locks; an arbitrary constant. */
const advisoryLock = 7_304_025;

async function appliedMigrations(db: Db): Promise<Map<string, number>> {
  const exists =
    engineOf(db) === 'sqlite'
      ? sql<{ n: number }>`select count(*) as n from sqlite_master where name = 'migrations'`
      : sql<{
          n: number;
        }>`select count(*)::int as n from pg_class where oid = to_regclass('migrations')`;
  if (((await exists.execute(db)).rows[0]?.n ?? 0) === 0) return new Map();
  const { rows } = await sql<{ name: string; applied_at: number }>`
    select name, applied_at from migrations`.execute(db);
  return new Map(rows.map((row) => [row.name, row.applied_at]));
}

/** Tells whether the database is a store: at least the first migration was applied. */
export async function hasMigrations(db: Db): Promise<boolean> {
  return (await appliedMigrations(db)).size > 0;
}

/**
 * Returns every migration that this version knows, with the time when it was applied; then applied
 * migrations of another version.
 */
export async function migrationStatus(db: Db): Promise<MigrationStatus[]> {
  const applied = await appliedMigrations(db);
  const known = migrations.map(({ name }) => ({ name, appliedAt: applied.get(name) ?? null }));
  const unknown = [...applied].filter(([name]) => !migrations.some((m) => m.name === name));
  return [...known, ...unknown.map(([name, appliedAt]) => ({ name, appliedAt }))];
}

/** Returns the names of all tables on PostgreSQL, that of the migrations included. */
export function migratedTables(): string[] {
  const texts = migrations.flatMap((migration) => statementsOf(migration, 'postgres'));
  const made = texts.flatMap((text) => [
    ...text.matchAll(/create table (?:if not exists )?(\w+)/gi),
  ]);
  return [...new Set(['migrations', ...made.map(([, name = '']) => name)])];
}

/**
 * Returns the reason why this version cannot use a store with these applied migrations; null if it
 * can. The text continues a sentence that begins with the store.
 */
export function foreignSchema(
  applied: readonly string[],
  known: readonly Migration[] = migrations,
): string | null {
  const unknown = applied.filter((name) => !known.some((m) => m.name === name));
  if (unknown.length === 0) return null;
  return applied.includes(known[0]?.name ?? '')
    ? `is of a newer version of svc (migration ${unknown.join(', ')}): use that version`
    : `is of a version of svc from before the first release (migration ${unknown[0]}), which has no ` +
        'upgrade: use that version, or start with a new dataDir or database.url';
}

/**
 * Brings the schema up to date. `beforeChange` runs first if migrations are pending and the store is not
 * empty (the SQLite snapshot).
 * @returns the names that were applied now.
 * @throws UnreachableError if another version wrote the store.
 */
export async function migrate(
  store: Store,
  clock: Clock,
  beforeChange: () => Promise<void>,
  known: readonly Migration[] = migrations,
): Promise<string[]> {
  const applied = await appliedMigrations(store.db);
  const foreign = foreignSchema([...applied.keys()], known);
  if (foreign) throw new UnreachableError(`The store ${foreign}`);
  if (known.every(({ name }) => applied.has(name))) return [];
  if (applied.size > 0) await beforeChange();
  return store.write((trx) => runPending(trx, clock, known));
}

async function runPending(trx: Db, clock: Clock, known: readonly Migration[]): Promise<string[]> {
  if (engineOf(trx) === 'postgres')
    await sql`select pg_advisory_xact_lock(${advisoryLock})`.execute(trx);
  // Reads the list again under the lock: another process may have migrated.
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
  return run;
}
