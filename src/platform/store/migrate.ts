// Runs migrations: forward only, in order, one process at a time, each all or nothing. Kysely's
// Migrator is not used: it takes no lock on SQLite, and two daemons may start at once. Commands
// only compare the schema.
import { sql } from 'kysely';
import { CapacityError, codeOf, OlderStoreError, UnreachableError } from '../errors.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Db, engineOf, type Store, type StoreKind } from './db.ts';
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
import { receipts } from './migrations/0014-receipts.ts';
import { scheduledJobs } from './migrations/0015-scheduled-jobs.ts';
import { rootKeys } from './migrations/0018-root-keys.ts';
import { compatibleVersions } from './migrations/0019-compatible-versions.ts';
import { settingsOfDaemons } from './migrations/0020-settings-of-daemons.ts';
import { blobObjects } from './migrations/0021-blob-objects.ts';
import { counterShards } from './migrations/0022-counter-shards.ts';
import { retentionOfOrganizations } from './migrations/0023-retention-of-organizations.ts';
import { clockState } from './migrations/0024-clock-state.ts';
import { unsealedEvents } from './migrations/0025-unsealed-events.ts';
import { nameOwners } from './migrations/0026-name-owners.ts';
import { firstOrganization } from './migrations/0027-first-organization.ts';
import { waitsOfConfirmations } from './migrations/0028-waits-of-confirmations.ts';
import { textsOfConfirmations } from './migrations/0029-texts-of-confirmations.ts';
import { idsOfStrangers } from './migrations/0030-ids-of-strangers.ts';
import { memberRefusals } from './migrations/0031-member-refusals.ts';
import { foldedTags } from './migrations/0032-folded-tags.ts';

/**
 * All migrations in order. One that has been released is never edited: a change is a new migration.
 */
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
  receipts,
  scheduledJobs,
  rootKeys,
  compatibleVersions,
  settingsOfDaemons,
  blobObjects,
  counterShards,
  retentionOfOrganizations,
  clockState,
  unsealedEvents,
  nameOwners,
  firstOrganization,
  waitsOfConfirmations,
  textsOfConfirmations,
  idsOfStrangers,
  foldedTags,
  memberRefusals,
];

export interface MigrationStatus {
  name: string;
  appliedAt: number | null;
}

/** Key of our lock among the server's advisory locks; an arbitrary constant. */
const advisoryLock = 7_304_025;
const lockPatienceMs = 60_000;

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

/**
 * Returns the applied migrations that this version knows: those of a store of an earlier schema, or
 * all.
 */
export function knownAmong(applied: readonly string[]): Migration[] {
  return migrations.filter(({ name }) => applied.includes(name));
}

/** Returns the names of the tables of a schema on PostgreSQL, that of the migrations included. */
export function migratedTables(known: readonly Migration[] = migrations): string[] {
  const texts = known.flatMap((migration) => statementsOf(migration, 'postgres'));
  const made = texts.flatMap((text) => [
    ...text.matchAll(/create table (?:if not exists )?(\w+)/gi),
  ]);
  return [...new Set(['migrations', ...made.map(([, name = '']) => name)])];
}

/** Returns the statements that make a schema, without the rows of `migrations`. */
export function schemaStatements(engine: StoreKind, known: readonly Migration[]): string[] {
  return known.flatMap((migration) => statementsOf(migration, engine));
}

/**
 * Returns the reason why this version cannot use a store with these applied migrations; null if it
 * can. `compatibleFrom` has the migrations of newer versions that some older ones bear. The text
 * continues a sentence that begins with the store.
 */
export function foreignSchema(
  applied: readonly string[],
  known: readonly Migration[] = migrations,
  compatibleFrom: ReadonlyMap<string, string> = new Map(),
): string | null {
  const isKnown = (name: string | undefined) => known.some((m) => m.name === name);
  const unknown = applied.filter((name) => !isKnown(name) && !isKnown(compatibleFrom.get(name)));
  if (unknown.length === 0) return null;
  return applied.includes(known[0]?.name ?? '')
    ? `is of a newer version of svc (migration ${unknown.join(', ')}): use that version`
    : `is of a version of svc from before the first release (migration ${unknown[0]}), which has no ` +
        'upgrade: use that version, or start with a new dataDir or database.url';
}

/** Returns the foreign schema of a store in words; null for one that this version can use. */
export async function foreignSchemaOf(
  db: Db,
  known: readonly Migration[] = migrations,
): Promise<string | null> {
  const applied = await appliedMigrations(db);
  const compatible = await compatibleMigrations(db, applied, known);
  return foreignSchema([...applied.keys()], known, compatible);
}

/**
 * Returns how an earlier schema differs from that of this version, behind "The store"; null for a
 * later one.
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

/** The next step of everybody with a store of an earlier schema. */
export const startToMigrate = 'start the daemon of this version first';

/**
 * Compares the schema, and changes nothing.
 * @throws UnreachableError if another version wrote the store; OlderStoreError for an earlier
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
 * Brings the schema up to date. `beforeChange` runs first if migrations are pending and the store
 * is not empty (the SQLite snapshot).
 * @returns the names that were applied now.
 * @throws UnreachableError if another version wrote the store, or another process migrates it for
 * over `patienceMs`.
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
 * Returns the migrations of newer versions that older ones bear; read only if there are such
 * migrations.
 */
async function compatibleMigrations(
  db: Db,
  applied: ReadonlyMap<string, number>,
  known: readonly Migration[],
): Promise<Map<string, string>> {
  const hasNewer = [...applied.keys()].some((name) => !known.some((m) => m.name === name));
  if (!hasNewer || !applied.has(compatibleVersions.name)) return new Map();
  const { rows } = await sql<{ name: string; compatible_from: string }>`
    select name, compatible_from from compatible_versions`.execute(db);
  return new Map(rows.map((row) => [row.name, row.compatible_from]));
}

/** @throws UnreachableError for a schema that a copy has not filled yet (copying/to-postgres.ts) */
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
 * Keeps other processes from migrating until the transaction ends. The lock belongs to its
 * connection, so a process that died holds none.
 */
async function lockMigrations(trx: Db, patienceMs: number): Promise<void> {
  await sql.raw(`set local lock_timeout = ${patienceMs}`).execute(trx);
  await sql`select pg_advisory_xact_lock(${advisoryLock})`.execute(trx);
  await sql`set local lock_timeout to default`.execute(trx);
}

/** SQLSTATE of a lock that another transaction held for too long. */
const lockTaken = '55P03';

/** Describes the process that migrates, as its connection tells. */
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
  // Reads the list again under the lock: another process may have migrated.
  const done = await appliedMigrations(trx);
  const run: string[] = [];
  for (const migration of known) {
    if (done.has(migration.name)) continue;
    for (const text of statementsOf(migration, engineOf(trx))) await sql.raw(text).execute(trx);
    await migration.fill?.(trx);
    await sql`insert into migrations (name, applied_at) values (${migration.name}, ${clock.now()})`.execute(
      trx,
    );
    run.push(migration.name);
  }
  if (known.includes(compatibleVersions)) await noteCompatible(trx, run, known);
  return run;
}

/** Records the applied migrations that older versions bear. */
async function noteCompatible(
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
