// SQL on `deliveries` for claims: due and ready deliveries, turns, waits for a lane, leases. The
// states are at the head of queries.ts.
import { type SqlBool, sql } from 'kysely';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { type DeliveryTables, lockDeliveries } from './queries.ts';
import type { WaitReason } from './status.ts';

const own = ownTables<DeliveryTables>();

/** Locks the claimed rows of a worker, or with null of all workers, in the order of ids. */
export async function lockClaims(db: Db, worker: string | null): Promise<void> {
  if (engineOf(db) === 'sqlite') return;
  await tables<DeliveryTables>(db)
    .selectFrom('deliveries')
    .select('id')
    .where('claimed_by', worker === null ? 'is not' : '=', worker)
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** Returns the earliest turn of a ready delivery, or null. Reads a single index entry. */
export const firstTurn = own.first(
  (db) =>
    db
      .selectFrom('deliveries')
      .select('turn')
      .where('turn', 'is not', null)
      .orderBy('turn')
      .limit(1),
  (row) => row?.turn ?? null,
);

/** Returns up to `limit` ready deliveries with the latest turns, the latest first. */
export const lastTurns = own.all((db, limit: number) =>
  db
    .selectFrom('deliveries')
    .select(['organization_id', 'sender_domain', 'campaign_run_id', 'turn'])
    .where('turn', 'is not', null)
    .orderBy('turn', 'desc')
    .limit(limit),
);

/** Returns the earliest due time of a delivery without a turn, or null. */
export const nextDueAt = own.first(
  (db) =>
    db
      .selectFrom('deliveries')
      .select('due_at')
      .where('turn', 'is', null)
      .where('due_at', 'is not', null)
      .orderBy('due_at')
      .limit(1),
  (row) => row?.due_at ?? null,
);

/** Finds due deliveries, earliest first, including claimed deliveries with an expired lease. */
export const findDue = own.all((db, now: number, limit: number) => {
  const due = db
    .selectFrom('deliveries')
    .selectAll()
    .where('turn', 'is', null)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .limit(limit);
  return engineOf(db) === 'postgres' ? due.forUpdate().skipLocked() : due;
});

/** Finds deliveries that wait for this lane, the earliest `due_at` first. */
export const findInLane = own.all((db, lane: string, limit: number) => {
  const waiting = db
    .selectFrom('deliveries')
    .selectAll()
    .where('lane', '=', lane)
    .orderBy('due_at')
    .limit(limit);
  return engineOf(db) === 'postgres' ? waiting.forUpdate().skipLocked() : waiting;
});

const selectLanesBetween = own.all(
  (db, after: string, before: string) => {
    // Compares by bytes on PostgreSQL too, as SQLite does by default.
    const lane = engineOf(db) === 'postgres' ? sql`lane collate "C"` : sql`lane`;
    return db
      .selectFrom('deliveries')
      .select('lane')
      .distinct()
      .where('lane', 'is not', null)
      .where(sql<SqlBool>`${lane} > ${after} and ${lane} < ${before}`);
  },
  (rows) => rows.flatMap(({ lane }) => lane ?? []),
);

/** Lists the lanes with waiting deliveries and a name that begins with this word and a space. */
export function selectLanesOf(db: Db, word: string): Promise<string[]> {
  // `!` is the character after the space.
  return selectLanesBetween(db, `${word} `, `${word}!`);
}

/**
 * Finds ready deliveries in the order of turns. On PostgreSQL, skips deliveries that another daemon
 * has locked.
 */
export const findReady = own.all((db, limit: number) => {
  const ready = db
    .selectFrom('deliveries')
    .selectAll()
    .where('turn', 'is not', null)
    .orderBy('turn')
    .limit(limit);
  return engineOf(db) === 'postgres' ? ready.forUpdate().skipLocked() : ready;
});

/** Gives the delivery a turn, and ends the claim or the wait for a lane. */
export const makeReady = own.run((db, id: string, turn: number) =>
  db
    .updateTable('deliveries')
    .set({ turn, claimed_by: null, lane: null, wait_reason: null })
    .where('id', '=', id),
);

export interface Postponement {
  id: string;
  lane: string;
  dueAt: number;
  waitReason: WaitReason;
}

/** Makes the delivery wait for the lane, until `dueAt` at the latest. Counts no attempt. */
export const postpone = own.run((db, postponement: Postponement) =>
  db
    .updateTable('deliveries')
    .set({
      turn: null,
      claimed_by: null,
      lane: postponement.lane,
      due_at: postponement.dueAt,
      wait_reason: postponement.waitReason,
    })
    .where('id', '=', postponement.id),
);

export interface ClaimRequest {
  ids: readonly string[];
  worker: string;
  now: number;
  leaseUntil: number;
}

/** Begins an attempt of these deliveries for `worker`, leased until `leaseUntil`. */
export const claimDeliveries = own.run((db, claim: ClaimRequest) =>
  db
    .updateTable('deliveries')
    .set((set) => ({
      status: 'processing' as const,
      claimed_by: claim.worker,
      claimed_at: claim.now,
      last_attempt_at: claim.now,
      attempt_count: set('attempt_count', '+', 1),
      due_at: claim.leaseUntil,
      turn: null,
      lane: null,
      wait_reason: null,
      updated_at: claim.now,
    }))
    .where('id', ...isOneOf(db, claim.ids)),
);

/** Extends the given leases that still belong to the worker. */
export async function renewLeases(
  db: Db,
  worker: string,
  ids: readonly string[],
  leaseUntil: number,
): Promise<void> {
  await lockDeliveries(db, ids);
  await tables<DeliveryTables>(db)
    .updateTable('deliveries')
    .set({ due_at: leaseUntil })
    .where('claimed_by', '=', worker)
    .where('id', ...isOneOf(db, ids))
    .execute();
}

/**
 * Releases the claims of a worker, or with null of all workers, so that they are due now. Runs at
 * SIGTERM and, after a crash, at the start. Returns the number of released claims.
 */
export async function releaseClaims(db: Db, worker: string | null, now: number): Promise<number> {
  await lockClaims(db, worker);
  const released = await tables<DeliveryTables>(db)
    .updateTable('deliveries')
    .set({ claimed_by: null, due_at: now })
    .where('claimed_by', worker === null ? 'is not' : '=', worker)
    .executeTakeFirst();
  return Number(released.numUpdatedRows);
}
