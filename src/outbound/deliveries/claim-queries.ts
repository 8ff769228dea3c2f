// SQL on `deliveries` for claims: the next work, turns, places in a lane, leases. The states are at the head
// of queries.ts.
import type { Kysely } from 'kysely';
import {
  type Db,
  engineOf,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
  tables,
} from '../../platform/store/db.ts';
import { type DeliveryRow, type DeliveryTables, lockDeliveries } from './queries.ts';
import type { WaitReason } from './status.ts';

/** Locks the rows of all claims, or of those of one worker, in the order of their ids. */
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

const selectFirstTurn = statement((db: Kysely<DeliveryTables>) =>
  db.selectFrom('deliveries').select('turn').where('turn', 'is not', null).orderBy('turn').limit(1),
);

/** Returns the earliest turn that waits for a claim, or null. Reads one index entry. */
export async function firstTurn(db: Db): Promise<number | null> {
  return (await selectFirstTurn(db, {}))[0]?.turn ?? null;
}

const selectNextDue = statement((db: Kysely<DeliveryTables>) =>
  db
    .selectFrom('deliveries')
    .select('due_at')
    .where('turn', 'is', null)
    .where('due_at', 'is not', null)
    .orderBy('due_at')
    .limit(1),
);

/** Returns the next time at which a delivery without a turn is due, or null. */
export async function nextDueAt(db: Db): Promise<number | null> {
  return (await selectNextDue(db, {}))[0]?.due_at ?? null;
}

type DueRequest = { now: number; limit: number };

const selectDue = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<DueRequest>) => {
  const due = db
    .selectFrom('deliveries')
    .selectAll()
    .where('turn', 'is', null)
    .where('due_at', '<=', parameter('now'))
    .orderBy('due_at')
    .limit(parameter('limit'));
  return engineOf(db) === 'postgres' ? due.forUpdate().skipLocked() : due;
});

/** Finds due deliveries, earliest first, including claimed ones with an expired lease. */
export function findDue(db: Db, now: number, limit: number): Promise<DeliveryRow[]> {
  return selectDue(db, { now, limit });
}

type LaneRequest = { lane: string; limit: number };

const selectInLane = statement(
  (db: Kysely<DeliveryTables>, parameter: ParameterOf<LaneRequest>) => {
    const waiting = db
      .selectFrom('deliveries')
      .selectAll()
      .where('lane', '=', parameter('lane'))
      .orderBy('due_at')
      .limit(parameter('limit'));
    return engineOf(db) === 'postgres' ? waiting.forUpdate().skipLocked() : waiting;
  },
);

/** Finds deliveries that wait for this lane, in the order in which they were put off. */
export function findInLane(db: Db, lane: string, limit: number): Promise<DeliveryRow[]> {
  return selectInLane(db, { lane, limit });
}

const selectReady = statement(
  (db: Kysely<DeliveryTables>, parameter: ParameterOf<{ limit: number }>) => {
    const ready = db
      .selectFrom('deliveries')
      .selectAll()
      .where('turn', 'is not', null)
      .orderBy('turn')
      .limit(parameter('limit'));
    return engineOf(db) === 'postgres' ? ready.forUpdate().skipLocked() : ready;
  },
);

/** Finds ready deliveries, by turn. On PostgreSQL, skips those that another daemon looks at. */
export function findReady(db: Db, limit: number): Promise<DeliveryRow[]> {
  return selectReady(db, { limit });
}

type TurnChange = { id: string; turn: number };

const setTurn = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<TurnChange>) =>
  db
    .updateTable('deliveries')
    .set({ turn: parameter('turn'), claimed_by: null, lane: null, wait_reason: null })
    .where('id', '=', parameter('id')),
);

/** Makes the delivery ready, at its turn. */
export async function makeReady(db: Db, id: string, turn: number): Promise<void> {
  await setTurn(db, { id, turn });
}

export interface Postponement {
  id: string;
  lane: string;
  dueAt: number;
  waitReason: WaitReason;
}

const setLane = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<Postponement>) =>
  db
    .updateTable('deliveries')
    .set({
      turn: null,
      claimed_by: null,
      lane: parameter('lane'),
      due_at: parameter('dueAt'),
      wait_reason: parameter('waitReason'),
    })
    .where('id', '=', parameter('id')),
);

/** Has the delivery wait for its lane, at the latest until `dueAt`. Counts no attempt. */
export async function postpone(db: Db, postponement: Postponement): Promise<void> {
  await setLane(db, postponement);
}

export interface ClaimRequest {
  ids: readonly string[];
  worker: string;
  now: number;
  leaseUntil: number;
}

type ClaimValues = Omit<ClaimRequest, 'ids'> & { ids: unknown };

const claim = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<ClaimValues>) =>
  db
    .updateTable('deliveries')
    .set((set) => ({
      status: 'processing' as const,
      claimed_by: parameter('worker'),
      claimed_at: parameter('now'),
      last_attempt_at: parameter('now'),
      attempt_count: set('attempt_count', '+', 1),
      due_at: parameter('leaseUntil'),
      turn: null,
      lane: null,
      wait_reason: null,
      updated_at: parameter('now'),
    }))
    .where(isOneOf(db, 'id', parameter('ids'))),
);

/** Begins an attempt of these deliveries for `worker`, leased until `leaseUntil`. */
export async function claimDeliveries(db: Db, request: ClaimRequest): Promise<void> {
  await claim(db, { ...request, ids: idList(db, request.ids) });
}

/** Extends those of these leases that still belong to the worker. */
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
    .where(isOneOf(db, 'id', idList(db, ids)))
    .execute();
}

/** Hands claims back, due now: at SIGTERM our own, at start those of a daemon that died. */
export async function releaseClaims(db: Db, worker: string | null, now: number): Promise<number> {
  await lockClaims(db, worker);
  const released = await tables<DeliveryTables>(db)
    .updateTable('deliveries')
    .set({ claimed_by: null, due_at: now })
    .where('claimed_by', worker === null ? 'is not' : '=', worker)
    .executeTakeFirst();
  return Number(released.numUpdatedRows);
}
