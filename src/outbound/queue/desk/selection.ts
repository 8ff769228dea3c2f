// A selected part of the queue: counted for a preview, or dropped as a whole. Leaves out deliveries
// scheduled for later, and deliveries that a daemon attempts at that moment.
import type { App } from '../../../core/app.ts';
import type { Db } from '../../../platform/store/db.ts';
import { findDeliveries } from '../../deliveries/queries.ts';
import { countWalk, type QueueHalf, type QueueRow } from '../../deliveries/queue-queries.ts';
import { lockMessages } from '../../messages/queries.ts';
import { endDeliveries } from '../schedule/cancel.ts';
import { heldStops } from './holds.ts';
import { droppedWords, recordByOperator } from './queue.ts';
import type { QueueSelection } from './queue-schema.ts';
import { changeQueue, type OnProgress } from './queue-walk.ts';

const halves: readonly QueueHalf[] = ['due', 'ready'];

/** Counts the deliveries that a drop, or a retry, of this selection would change. */
export async function countSelected(
  app: App,
  filter: QueueSelection,
  verb: 'drop' | 'retry',
): Promise<number> {
  const { db } = app.store;
  const exceptStops = verb === 'retry' ? await heldStops(db) : [];
  let count = 0;
  for (const half of verb === 'retry' ? (['due'] as const) : halves) {
    count += await countWalk(db, { half, filter, exceptStops, withScheduled: false });
  }
  return count;
}

/** Drops the selected deliveries for good, held deliveries too. @returns how many were dropped. */
export async function dropSelected(
  app: App,
  filter: QueueSelection,
  onProgress: OnProgress = () => {},
): Promise<{ dropped: number }> {
  let dropped = 0;
  for (const half of halves) {
    const before = dropped;
    dropped += await changeQueue(
      app,
      { half, filter, withScheduled: false },
      (trx, rows) => dropThese(app, trx, rows),
      (changed) => onProgress(before + changed),
    );
  }
  return { dropped };
}

async function dropThese(app: App, trx: Db, rows: readonly QueueRow[]): Promise<number> {
  const ids = new Set(rows.map(({ id }) => id));
  const messageIds = [...new Set(rows.map((row) => row.message_id))].sort();
  await lockMessages(trx, messageIds);
  const waiting = (await findDeliveries(trx, messageIds)).filter(
    ({ id, due_at, claimed_by }) => ids.has(id) && due_at !== null && claimed_by === null,
  );
  const byHand = { by: 'operator', action: 'drop' } as const;
  for (const [, dropped] of Map.groupBy(waiting, (row) => row.message_id)) {
    await endDeliveries(app, trx, dropped, { words: droppedWords, byHand });
  }
  await recordByOperator(app, trx, waiting, 'queue.dropped');
  return waiting.length;
}
