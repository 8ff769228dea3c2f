// SQL on `deliveries` for scheduled mail: a `waiting` delivery with the status `scheduled`. During
// a pause or without quota it waits in a separate lane. Delivery rows are locked before their
// messages, in the order of their ids.
import { engineOf, isOneOf } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { DeliveryTables } from './queries.ts';
import type { WaitReason } from './status.ts';

const own = ownTables<DeliveryTables>();

/** Locks the deliveries of these messages that are still scheduled, until the transaction ends. */
export const lockScheduled = own.all((db, messageIds: readonly string[]) =>
  db
    .selectFrom('deliveries')
    .selectAll()
    .where('message_id', ...isOneOf(db, messageIds))
    .where('status', '=', 'scheduled')
    .orderBy('id')
    .$if(engineOf(db) === 'postgres', (q) => q.forUpdate()),
);

/**
 * Locks the unclaimed queued deliveries of these messages until the transaction ends. On
 * PostgreSQL, waits for a claim under way.
 */
export const lockWaiting = own.all((db, messageIds: readonly string[]) =>
  db
    .selectFrom('deliveries')
    .selectAll()
    .where('message_id', ...isOneOf(db, messageIds))
    .where('due_at', 'is not', null)
    .where('claimed_by', 'is', null)
    .orderBy('id')
    .$if(engineOf(db) === 'postgres', (q) => q.forUpdate()),
);

/** Next wait of a scheduled delivery. Without a lane the checks run again at `dueAt`. */
export interface PutOff {
  id: string;
  lane: string | null;
  dueAt: number;
  waitReason: WaitReason | null;
}

/** Makes the scheduled delivery wait until `dueAt`, in a lane if it is given. */
export const putOffScheduled = own.run((db, putOff: PutOff) =>
  db
    .updateTable('deliveries')
    .set({
      lane: putOff.lane,
      due_at: putOff.dueAt,
      wait_reason: putOff.waitReason,
    })
    .where('id', '=', putOff.id)
    .where('status', '=', 'scheduled'),
);

type Departure = { id: string; turn: number; now: number; expiresAt: number };

/** Makes a due scheduled delivery ready, with a turn. */
export const enqueueScheduled = own.run((db, departure: Departure) =>
  db
    .updateTable('deliveries')
    .set({
      status: 'queued',
      turn: departure.turn,
      lane: null,
      due_at: departure.now,
      wait_reason: null,
      queued_at: departure.now,
      expires_at: departure.expiresAt,
      updated_at: departure.now,
    })
    .where('id', '=', departure.id)
    .where('status', '=', 'scheduled'),
);

/** Takes a scheduled delivery out of the lane, so that the checks before sending run again now. */
export const askScheduledNow = own.run((db, id: string, now: number) =>
  db
    .updateTable('deliveries')
    .set({ lane: null, due_at: now, wait_reason: null })
    .where('id', '=', id)
    .where('status', '=', 'scheduled')
    .where('lane', 'is not', null),
);
