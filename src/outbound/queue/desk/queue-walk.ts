// Walks that change many queue entries, a few in each transaction, so that a daemon on the same
// store never waits long. Skips an entry on which a daemon works at that moment.
import { setTimeout as pause } from 'node:timers/promises';
import type { App } from '../../../core/app.ts';
import { recordTimeline } from '../../../history/events/record.ts';
import type { Db } from '../../../platform/store/db.ts';
import { firstTurn } from '../../deliveries/claim-queries.ts';
import { deliveryEvent } from '../../deliveries/delivery-event.ts';
import { lockDeliveries } from '../../deliveries/queries.ts';
import {
  lastOf,
  makeReadyNow,
  type QueueRow,
  type Walk,
  type WalkRow,
  walkQueue,
} from '../../deliveries/queue-queries.ts';
import { askScheduledNow } from '../../deliveries/scheduled-queries.ts';
import { findMessageRows } from '../../messages/queries.ts';
import { turnsOf } from '../claiming/delivery-turns.ts';

/** Most entries of a transaction: about 2 ms of the write lock on SQLite. */
const batch = 200;
/**
 * Pause between batches, in real time, as the daemon is a separate process. While 500,000 entries
 * were flushed, a write of the daemon waited up to 106 ms without the pause, and 13 ms with it.
 */
const breathMs = 5;

export interface WalkOptions extends Pick<Walk, 'half' | 'filter'> {
  exceptStops?: readonly string[];
  withScheduled?: boolean;
}

/** Receives the number of changed entries so far, after every batch. */
export type OnProgress = (changed: number) => void;

/** Changes a batch inside the caller's transaction. Returns how many entries it changed. */
type Change = (trx: Db, rows: readonly WalkRow[]) => Promise<number>;

/**
 * Walks once over the entries that exist now, and skips later entries. Returns how many changed.
 */
export async function changeQueue(
  app: App,
  options: WalkOptions,
  change: Change,
  onProgress: OnProgress = () => {},
): Promise<number> {
  const { db } = app.store;
  const until = await lastOf(db, options.half);
  if (until === null) return 0;
  const walk: Walk = { exceptStops: [], withScheduled: true, ...options, until, after: null };
  let changed = 0;
  for (;;) {
    const rows = await walkQueue(db, walk, batch);
    if (rows.length === 0) return changed;
    changed += await app.store.write(async (trx) => {
      await lockDeliveries(
        trx,
        rows.map(({ id }) => id),
      );
      return change(trx, rows);
    });
    onProgress(changed);
    walk.after = rows.at(-1) ?? null;
    if (rows.length === batch) await pause(breathMs);
  }
}

/**
 * Makes waiting entries ready, at fair turns, and returns the entries that became ready. Leaves out
 * entries claimed or ended since they were read, and scheduled entries: their checks run again
 * first (src/outbound/queue/schedule/scheduled.ts). For `changeQueue`, or for a few entries in a
 * single transaction.
 */
export async function giveTurnsNow<Row extends QueueRow>(
  app: App,
  trx: Db,
  rows: readonly Row[],
): Promise<Row[]> {
  const now = app.clock.now();
  const turns = turnsOf(app);
  const first = await firstTurn(trx);
  const given: Row[] = [];
  for (const row of rows) {
    if (row.status === 'scheduled') {
      await askScheduledNow(trx, row.id, now);
      continue;
    }
    const turn = turns.next(row, first);
    if (await makeReadyNow(trx, { id: row.id, turn, now })) given.push(row);
  }
  return given;
}

/** Makes all deliveries of this lane ready. */
export async function emptyLane(app: App, lane: string, onProgress?: OnProgress): Promise<void> {
  const options = { half: 'due', filter: { lane } } as const;
  const giveTurns = async (trx: Db, rows: readonly WalkRow[]) =>
    (await giveTurnsNow(app, trx, rows)).length;
  await changeQueue(app, options, giveTurns, onProgress);
}

/** Author and kind of a change to the queue. */
export interface ByHand {
  by: 'operator' | 'key';
  action: 'hold' | 'retry' | 'release' | 'drop' | 'cancel';
  /** Id and note of a hold. */
  holdId?: string;
  note?: string | null;
}

/**
 * Records an action of a person in the timelines of these entries, with their statuses after the
 * action.
 */
export async function recordByHand(
  app: App,
  trx: Db,
  rows: readonly QueueRow[],
  eventType: 'queued' | 'cancelled',
  metadata: ByHand,
): Promise<void> {
  if (rows.length === 0) return;
  const messages = await findMessageRows(trx, [...new Set(rows.map((row) => row.message_id))]);
  const statuses = new Map(messages.map(({ id, status }) => [id, status]));
  await recordTimeline(
    app,
    trx,
    rows.map((row) => {
      const status = statuses.get(row.message_id) ?? 'pending';
      return deliveryEvent(row, eventType, status, app.clock.now(), { ...metadata });
    }),
  );
}
