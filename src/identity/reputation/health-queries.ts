// All SQL on `health_counters` and `health_reviews`. Reads and writes rows, decides nothing.
import { sql } from 'kysely';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { dayMs } from './metrics.ts';

/** Counts by which the health of a scope is judged. */
export interface HealthTally {
  attempted: number;
  hard_bounced: number;
  complained: number;
}

export interface HealthRow extends HealthTally {
  organization_id: string;
  /** Scope of the counts: '' for all, `sender:ADDRESS`, `from:DOMAIN`. */
  scope: string;
  bucket_start: number;
}

export interface ReviewRow {
  organization_id: string;
  /** Scope of the review: '' for all, `from:DOMAIN`. */
  scope: string;
  /** Results before this time do not count. */
  since: number;
  /** Time of the warning that is in force; null without a warning. */
  warned_at: number | null;
  /** Time of the hold that is in force; null without a hold. */
  held_at: number | null;
  hold_reason: string | null;
}

interface HealthTables {
  health_counters: HealthRow & { shard: number };
  health_reviews: ReviewRow;
}

const own = ownTables<HealthTables>();

export const healthCounts = own.counter(
  'health_counters',
  ['organization_id', 'scope', 'bucket_start', 'shard'],
  ['attempted', 'hard_bounced', 'complained'],
);

function summed(column: keyof HealthTally) {
  return sql<number>`cast(coalesce(sum(${sql.ref(column)}), 0) as bigint)`.as(column);
}

type Window = { organizationId: string; scope: string; from: number };

/** Sums the counts of a scope from `from` on (ms since 1970), zeros without counts. Hot. */
export const sumHealth = own.first(
  (db, window: Window) =>
    db
      .selectFrom('health_counters')
      .select([summed('attempted'), summed('hard_bounced'), summed('complained')])
      .where('organization_id', '=', window.organizationId)
      .where('scope', '=', window.scope)
      .where('bucket_start', '>=', window.from),
  (sums) => sums ?? { attempted: 0, hard_bounced: 0, complained: 0 },
);

/**
 * Returns the counts from `from` on, as stored. An hour may have several rows: for each shard, and
 * before and after a review.
 */
export function selectHealth(
  db: Db,
  { organizationId, scope, from }: Window,
): Promise<(HealthTally & Pick<HealthRow, 'bucket_start'>)[]> {
  return tables<HealthTables>(db)
    .selectFrom('health_counters')
    .select(['bucket_start', 'attempted', 'hard_bounced', 'complained'])
    .where('organization_id', '=', organizationId)
    .where('scope', '=', scope)
    .where('bucket_start', '>=', from)
    .execute();
}

/** Returns the sums of many scopes. Scopes without counts are absent. */
export function sumHealthOf(
  db: Db,
  organizationId: string,
  scopes: readonly string[],
  from: number,
): Promise<(HealthTally & { scope: string })[]> {
  return tables<HealthTables>(db)
    .selectFrom('health_counters')
    .select(['scope', summed('attempted'), summed('hard_bounced'), summed('complained')])
    .where('organization_id', '=', organizationId)
    .where('scope', ...isOneOf(db, scopes))
    .where('bucket_start', '>=', from)
    .groupBy('scope')
    .execute();
}

/** Sums the attempted mail of scopes from `from` on. `day` is the number of UTC days since 1970. */
export function sumAttemptedByDay(
  db: Db,
  organizationId: string,
  scopes: readonly string[],
  from: number,
): Promise<{ scope: string; day: number; attempted: number }[]> {
  const day = sql<number>`bucket_start / ${sql.lit(dayMs)}`;
  return tables<HealthTables>(db)
    .selectFrom('health_counters')
    .select(['scope', day.as('day'), summed('attempted')])
    .where('organization_id', '=', organizationId)
    .where('scope', ...isOneOf(db, scopes))
    .where('bucket_start', '>=', from)
    .groupBy(['scope', day])
    .execute();
}

/** Finds reviews, in no order. A scope without a review, warning or hold has no row. Hot. */
export const findReviews = own.all((db, organizationIds: readonly string[]) =>
  db
    .selectFrom('health_reviews')
    .selectAll()
    .where('organization_id', ...isOneOf(db, organizationIds)),
);

/** Records a warning. Returns false if a warning is in force already. */
export async function markWarned(db: Db, organizationId: string, now: number): Promise<boolean> {
  const marked = await tables<HealthTables>(db)
    .insertInto('health_reviews')
    .values({ organization_id: organizationId, scope: '', since: 0, warned_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'scope'])
        .doUpdateSet({ warned_at: now })
        .where('health_reviews.warned_at', 'is', null),
    )
    .returning('scope')
    .execute();
  return marked.length > 0;
}

export async function clearWarning(db: Db, organizationId: string): Promise<void> {
  await tables<HealthTables>(db)
    .updateTable('health_reviews')
    .set({ warned_at: null })
    .where('organization_id', '=', organizationId)
    .where('scope', '=', '')
    .execute();
}

/** Records a hold. Returns false if the scope is held already, or was reviewed after `since`. */
export async function markHeld(db: Db, row: Omit<ReviewRow, 'warned_at'>): Promise<boolean> {
  const { held_at, hold_reason } = row;
  const held = await tables<HealthTables>(db)
    .insertInto('health_reviews')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'scope'])
        .doUpdateSet({ held_at, hold_reason })
        .where('health_reviews.held_at', 'is', null)
        .where('health_reviews.since', '=', row.since),
    )
    .returning('scope')
    .execute();
  return held.length > 0;
}

/**
 * Begins the window of a scope anew, in a new bucket, even within the same millisecond. Ends the
 * warning and the hold of the scope. With `onlyWhen`, does nothing and returns false for a scope
 * that is not held.
 */
export async function forgiveScope(
  db: Db,
  organizationId: string,
  scope: string,
  now: number,
  onlyWhen?: 'held',
): Promise<boolean> {
  const free = { warned_at: null, held_at: null, hold_reason: null };
  const since = sql<number>`case when since >= ${now} then since + 1 else ${now + 1} end`;
  const { numUpdatedRows } = await tables<HealthTables>(db)
    .updateTable('health_reviews')
    .set({ ...free, since })
    .where('organization_id', '=', organizationId)
    .where('scope', '=', scope)
    .$if(onlyWhen === 'held', (q) => q.where('held_at', 'is not', null))
    .executeTakeFirst();
  if (numUpdatedRows > 0n || onlyWhen === 'held') return numUpdatedRows > 0n;
  await tables<HealthTables>(db)
    .insertInto('health_reviews')
    .values({ organization_id: organizationId, scope, since: now + 1, ...free })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'scope']).doUpdateSet({ ...free, since: now + 1 }),
    )
    .execute();
  return true;
}

/**
 * Returns the held scopes. Hot: every claim of deliveries reads them. On PostgreSQL it locks the
 * rows, so that no hold ends before the transaction.
 */
export const lockHeldScopes = own.all((db) => {
  const rows = db
    .selectFrom('health_reviews')
    .select(['organization_id', 'scope'])
    .where('held_at', 'is not', null);
  return engineOf(db) === 'postgres' ? rows.forShare() : rows;
});

export function selectHeldScopes(db: Db, organizationId: string): Promise<ReviewRow[]> {
  return tables<HealthTables>(db)
    .selectFrom('health_reviews')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('held_at', 'is not', null)
    .execute();
}

/**
 * Deletes counters and reviews from before `before`, except warnings and holds in force. On
 * PostgreSQL it skips rows that another daemon has locked.
 */
export async function deleteHealthBefore(db: Db, before: number): Promise<void> {
  const isShared = engineOf(db) === 'postgres';
  const q = tables<HealthTables>(db);
  await q
    .deleteFrom('health_counters')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('organization_id', 'scope', 'bucket_start', 'shard'),
        'in',
        selectFrom('health_counters')
          .select(['organization_id', 'scope', 'bucket_start', 'shard'])
          .where('bucket_start', '<', before)
          .$if(isShared, (rows) => rows.forUpdate().skipLocked())
          .$asTuple('organization_id', 'scope', 'bucket_start', 'shard'),
      ),
    )
    .execute();
  await q
    .deleteFrom('health_reviews')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('organization_id', 'scope'),
        'in',
        selectFrom('health_reviews')
          .select(['organization_id', 'scope'])
          .where('since', '<', before)
          .where('warned_at', 'is', null)
          .where('held_at', 'is', null)
          .$if(isShared, (rows) => rows.forUpdate().skipLocked())
          .$asTuple('organization_id', 'scope'),
      ),
    )
    .execute();
}
