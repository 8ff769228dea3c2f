// SQL on `deliveries` after the clock was set back: what was reckoned by the old clock comes to the
// present, so that nothing waits for a time that is far off.
import { type SqlBool, sql } from 'kysely';
import { type Db, idList, isOneOf, tables } from '../store/db.ts';
import { lockClaims } from './claim-queries.ts';
import { type DeliveryTables, lockDeliveries } from './queries.ts';

/** The time, and the latest that counts as the present. */
export interface Moment {
  now: number;
  latest: number;
}

/** When something was last done to an entry: what it waits for is counted from there. */
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
      // Before it was touched: reckoned by the new clock already, as a lease that was renewed since.
      due_at: sql<number>`case when due_at < ${touchedAt} then due_at else due_at - ${early} end`,
      expires_at: sql<number>`expires_at - ${early}`,
      last_attempt_at: atMost('last_attempt_at'),
      claimed_at: atMost('claimed_at'),
      // What was never attempted is known by this one not to be moved again.
      queued_at: sql<number>`case when last_attempt_at is null or queued_at > ${now} then ${now} else queued_at end`,
    })
    .where('due_at', 'is not', null)
    .where('status', '<>', 'scheduled')
    .where(sql<SqlBool>`${touchedAt} > ${latest}`);
}

/**
 * Shifts those of these entries that were last touched after `latest`, as if that had been now.
 * Returns how many there were.
 */
export async function bringToPresent(
  db: Db,
  ids: readonly string[],
  moment: Moment,
): Promise<number> {
  await lockDeliveries(db, ids);
  const { numUpdatedRows } = await fromFuture(db, moment)
    .where(isOneOf(db, 'id', idList(db, ids)))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** The same for all that is claimed: leases end in time. */
export async function bringClaimsToPresent(db: Db, moment: Moment): Promise<number> {
  await lockClaims(db, null);
  const { numUpdatedRows } = await fromFuture(db, moment)
    .where('claimed_by', 'is not', null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** The same for what a relay took and has not confirmed, up to `limit`. */
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
    .where(isOneOf(db, 'id', idList(db, ids)))
    .where('status', '=', 'sent')
    .where('sent_at', '>', latest)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
