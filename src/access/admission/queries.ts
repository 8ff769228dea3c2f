// All SQL on `daily_usage`, `daemons` and `rate_buckets`. Reads and writes rows, decides nothing.
import { sql } from 'kysely';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { commonShard } from '../../platform/store/shards.ts';

/** Sends of an organization on one day; `day` is the first millisecond of the day (UTC). */
export interface UsageRow {
  organization_id: string;
  day: number;
  /** Accepted emails, counted for each recipient. */
  emails: number;
  messages: number;
}

/** Part of the sends of a day: shards let concurrent transactions update different rows. */
interface ShardRow extends UsageRow {
  shard: number;
}

export interface DaemonRow {
  id: string;
  /** Number of heartbeats so far: a peer is alive while it grows. */
  beats: number;
  /** Ids of the root keys that the daemon has; null for a daemon of an earlier version. */
  root_keys: string | null;
  /** Digests by settings.ts, as JSON; null for a daemon of an earlier version. */
  settings: string | null;
}

export interface BucketRow {
  id: string;
  level: number;
  at: number;
}

interface AdmissionTables {
  daily_usage: ShardRow;
  daemons: DaemonRow;
  rate_buckets: BucketRow;
}

const own = ownTables<AdmissionTables>();

function sumOf<Name extends 'emails' | 'messages'>(name: Name) {
  return sql<number>`cast(coalesce(sum(${sql.ref(name)}), 0) as bigint)`.as(name);
}

/** Returns the sends of organizations on a day, in no order. Has no row for a day without sends. */
export const findUsage = own.all((db, organizationIds: readonly string[], day: number) =>
  db
    .selectFrom('daily_usage')
    .select(['organization_id', 'day', sumOf('emails'), sumOf('messages')])
    .where('day', '=', day)
    .where('organization_id', ...isOneOf(db, organizationIds))
    .groupBy(['organization_id', 'day']),
);

/** Sums the accepted mail of the days from `from` to before `to`. */
export function sumUsage(
  db: Db,
  organizationId: string,
  from: number,
  to: number,
): Promise<Pick<UsageRow, 'emails' | 'messages'>> {
  return tables<AdmissionTables>(db)
    .selectFrom('daily_usage')
    .select([sumOf('emails'), sumOf('messages')])
    .where('organization_id', '=', organizationId)
    .where('day', '>=', from)
    .where('day', '<', to)
    .executeTakeFirstOrThrow();
}

/** Counters of the sends of a day, in shards. Each accept transaction adds to them. */
export const usage = own.counter(
  'daily_usage',
  ['organization_id', 'day', 'shard'],
  ['emails', 'messages'],
);

/**
 * Returns the sends like `findUsage`. Other transactions that call it wait until this transaction
 * ends.
 */
export async function lockUsage(
  db: Db,
  organizationIds: readonly string[],
  day: number,
): Promise<UsageRow[]> {
  await usage.lock(
    db,
    organizationIds.map((organization_id) => ({ organization_id, day, shard: commonShard })),
  );
  return findUsage(db, organizationIds, day);
}

/** Writes a heartbeat. Returns all daemons of the store. */
export async function beat(
  db: Db,
  { id, ...state }: Omit<DaemonRow, 'beats'>,
): Promise<DaemonRow[]> {
  const q = tables<AdmissionTables>(db);
  await q
    .insertInto('daemons')
    .values({ id, beats: 1, ...state })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({ beats: eb('daemons.beats', '+', 1), ...state })),
    )
    .execute();
  return q.selectFrom('daemons').selectAll().execute();
}

/** Returns the daemons with their heartbeats. */
export const selectDaemons = own.all((db) => db.selectFrom('daemons').selectAll());

/** Deletes rows of daemons. Skips rows that a daemon writes now, to avoid deadlocks. */
export async function deleteDaemons(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tables<AdmissionTables>(db)
    .deleteFrom('daemons')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('daemons')
        .select('id')
        .where('id', 'in', [...ids])
        .$if(engineOf(db) === 'postgres', (q) => q.forUpdate().skipLocked()),
    )
    .execute();
}

/** Inserts the missing rows. The caller sorts them, so that two transactions cannot deadlock. */
export async function insertBuckets(db: Db, rows: readonly BucketRow[]): Promise<void> {
  await tables<AdmissionTables>(db)
    .insertInto('rate_buckets')
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns the existing rows, locked in a fixed order until the transaction ends. */
export const lockBuckets = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('rate_buckets')
    .selectAll()
    .where('id', ...isOneOf(db, ids))
    .orderBy('id')
    .$if(engineOf(db) === 'postgres', (q) => q.forUpdate()),
);

/**
 * Deletes rows of buckets that are surely full: untouched for `restMs`, and for the time that a
 * debt needs at the slowest rate (a millionth of a token each ms). Skips rows with a draw under
 * way. Returns the number of deleted rows.
 */
export async function deleteRestingBuckets(
  db: Db,
  { now, restMs, limit }: { now: number; restMs: number; limit: number },
): Promise<number> {
  const { numDeletedRows } = await tables<AdmissionTables>(db)
    .deleteFrom('rate_buckets')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('rate_buckets')
        .select('id')
        .where('at', '<', now - restMs)
        .where(sql<number>`at - level`, '<', now - restMs)
        .orderBy('id')
        .limit(limit)
        .$if(engineOf(db) === 'postgres', (q) => q.forUpdate().skipLocked()),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Writes the level and time of rows that the transaction has locked. */
export async function updateBuckets(db: Db, rows: readonly BucketRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tables<AdmissionTables>(db)
    .insertInto('rate_buckets')
    .values([...rows])
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        level: eb.ref('excluded.level'),
        at: eb.ref('excluded.at'),
      })),
    )
    .execute();
}
