// SQL on `deliveries` after the clock was set back. Times recorded before that lie in the future.
// They move to the present, so that no delivery waits for a distant time.
import { type SqlBool, sql } from 'kysely';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { lockClaims } from './claim-queries.ts';
import { type DeliveryTables, lockDeliveries } from './queries.ts';

/** The present, and the latest time that still counts as present; ms since 1970. */
export interface Moment {
  now: number;
  latest: number;
}

/** Time of the last attempt, else of queueing or creation. The wait of an entry began then. */
const touchedAt = sql<number>`coalesce(last_attempt_at, queued_at, created_at)`;

function fromFuture(db: Db, { now, latest }: Moment) {
  const early = sql<number>`(${touchedAt} - ${now})`;
  const atMost = (column: 'last_attempt_at' | 'claimed_at' | 'queued_at') =>
    sql<
      number | null
    >`case when ${sql.ref(column)} > ${now} then ${now} else ${sql.ref(column)} end`;
  return tables<DeliveryTables>(db)
    .updateTable('deliveries')
    .set({
      // Keeps a `due_at` before `touchedAt`: it was set after the clock was set back, as for a
      // lease.
      due_at: sql<number>`case when due_at < ${touchedAt} then due_at else due_at - ${early} end`,
      expires_at: sql<number>`expires_at - ${early}`,
      last_attempt_at: atMost('last_attempt_at'),
      claimed_at: atMost('claimed_at'),
      // For an entry without an attempt, `touchedAt` is `queued_at`. Setting `queued_at` to now
      // keeps the entry from being moved again.
      queued_at: sql<number>`case when last_attempt_at is null or queued_at > ${now} then ${now} else queued_at end`,
    })
    .where('due_at', 'is not', null)
    .where('status', '<>', 'scheduled')
    .where(sql<SqlBool>`${touchedAt} > ${latest}`);
}

/**
 * Shifts the times of the given entries that were last changed after `latest`, as if they had been
 * changed now. Returns the number of shifted entries.
 */
export async function bringToPresent(
  db: Db,
  ids: readonly string[],
  moment: Moment,
): Promise<number> {
  await lockDeliveries(db, ids);
  const { numUpdatedRows } = await fromFuture(db, moment)
    .where('id', ...isOneOf(db, ids))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Shifts claimed entries as `bringToPresent` does, so that leases end in time. */
export async function bringClaimsToPresent(db: Db, moment: Moment): Promise<number> {
  await lockClaims(db, null);
  const { numUpdatedRows } = await fromFuture(db, moment)
    .where('claimed_by', 'is not', null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/**
 * Sets `sent_at` to now for up to `limit` unconfirmed deliveries that a relay accepted after
 * `latest`. Returns the number of changed deliveries.
 */
export async function bringSentToPresent(
  db: Db,
  { now, latest }: Moment,
  limit: number,
): Promise<number> {
  const q = tables<DeliveryTables>(db);
  const early = await q
    .selectFrom('deliveries')
    .select('id')
    .where('status', '=', 'sent')
    .where('sent_at', '>', latest)
    .limit(limit)
    .execute();
  const ids = early.map(({ id }) => id);
  await lockDeliveries(db, ids);
  const { numUpdatedRows } = await q
    .updateTable('deliveries')
    .set({ sent_at: now })
    .where('id', ...isOneOf(db, ids))
    .where('status', '=', 'sent')
    .where('sent_at', '>', latest)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
