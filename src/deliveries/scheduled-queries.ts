// SQL on `deliveries` for what is scheduled. That is a `waiting` delivery whose status says so; in a lane
// of its own it waits for a pause or a quota. Its rows are locked before their messages, in the order of
// their ids.
import type { Kysely } from 'kysely';
import { type Db, engineOf, idList, isOneOf, type ParameterOf, statement } from '../store/db.ts';
import type { DeliveryRow, DeliveryTables } from './queries.ts';
import type { WaitReason } from './status.ts';

type IdList = { ids: unknown };

const selectScheduled = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('deliveries')
    .selectAll()
    .where(isOneOf(db, 'message_id', parameter('ids')))
    .where('status', '=', 'scheduled')
    .orderBy('id')
    .$if(engineOf(db) === 'postgres', (q) => q.forUpdate()),
);

/** Those of these messages that are scheduled still, kept from others until the transaction ends. */
export function lockScheduled(db: Db, messageIds: readonly string[]): Promise<DeliveryRow[]> {
  return selectScheduled(db, { ids: idList(db, messageIds) });
}

const selectWaiting = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('deliveries')
    .selectAll()
    .where(isOneOf(db, 'message_id', parameter('ids')))
    .where('due_at', 'is not', null)
    .where('claimed_by', 'is', null)
    .orderBy('id')
    .$if(engineOf(db) === 'postgres', (q) => q.forUpdate()),
);

/**
 * The deliveries of a message that are in the queue and that nobody attempts, kept from others until
 * the transaction ends: on PostgreSQL a claim that is being made is waited for.
 */
export function lockWaiting(db: Db, messageId: string): Promise<DeliveryRow[]> {
  return selectWaiting(db, { ids: idList(db, [messageId]) });
}

/** How a scheduled delivery goes on waiting; in no lane it is asked again at `dueAt`. */
export interface PutOff {
  id: string;
  lane: string | null;
  dueAt: number;
  waitReason: WaitReason | null;
}

const setWait = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<PutOff>) =>
  db
    .updateTable('deliveries')
    .set({
      lane: parameter('lane'),
      due_at: parameter('dueAt'),
      wait_reason: parameter('waitReason'),
    })
    .where('id', '=', parameter('id'))
    .where('status', '=', 'scheduled'),
);

/** The scheduled delivery waits on. */
export async function putOffScheduled(db: Db, putOff: PutOff): Promise<void> {
  await setWait(db, putOff);
}

type Departure = { id: string; turn: number; now: number; expiresAt: number };

const enqueue = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<Departure>) =>
  db
    .updateTable('deliveries')
    .set({
      status: 'queued',
      turn: parameter('turn'),
      lane: null,
      due_at: parameter('now'),
      wait_reason: null,
      queued_at: parameter('now'),
      expires_at: parameter('expiresAt'),
      updated_at: parameter('now'),
    })
    .where('id', '=', parameter('id'))
    .where('status', '=', 'scheduled'),
);

/** The time of a scheduled delivery came: it may go at its turn. */
export async function enqueueScheduled(db: Db, departure: Departure): Promise<void> {
  await enqueue(db, departure);
}

const askNow = statement(
  (db: Kysely<DeliveryTables>, parameter: ParameterOf<{ id: string; now: number }>) =>
    db
      .updateTable('deliveries')
      .set({ lane: null, due_at: parameter('now'), wait_reason: null })
      .where('id', '=', parameter('id'))
      .where('status', '=', 'scheduled')
      .where('lane', 'is not', null),
);

/** What a scheduled delivery waited for in its lane is over: it is asked again at once. */
export async function askScheduledNow(db: Db, id: string, now: number): Promise<void> {
  await askNow(db, { id, now });
}
