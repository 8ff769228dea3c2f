// SQL on `deliveries` for scheduled mail: a `waiting` delivery with the status `scheduled`. During a pause or
// without quota it waits in a lane of its own. Its rows are locked before their messages, in the order of
// their ids.
import type { Kysely } from 'kysely';
import {
  type Db,
  engineOf,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
} from '../../platform/store/db.ts';
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

/** Locks the deliveries of these messages that are still scheduled, until the transaction ends. */
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
 * Locks the unclaimed queued deliveries of a message until the transaction ends. On PostgreSQL, waits for a
 * claim under way.
 */
export function lockWaiting(db: Db, messageId: string): Promise<DeliveryRow[]> {
  return selectWaiting(db, { ids: idList(db, [messageId]) });
}

/** Next wait of a scheduled delivery. Without a lane it is asked again at `dueAt`. */
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

/** Has the scheduled delivery wait on. */
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

/** Makes a scheduled delivery ready at its turn, as its time has come. */
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

/** Has a scheduled delivery asked again at once, as its wait in its lane is over. */
export async function askScheduledNow(db: Db, id: string, now: number): Promise<void> {
  await askNow(db, { id, now });
}
