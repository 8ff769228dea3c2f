// Cancels unsent mail: a message for the owner, deliveries for the operator (`drop` in
// desk/queue.ts). A status `cancelled` does not exist: such deliveries end as `failed` with the
// `errorCode` `cancelled`, and their timeline has the event `cancelled`.

import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { record } from '../../../history/events/record.ts';
import { ConflictError } from '../../../platform/errors.ts';
import type { Db } from '../../../platform/store/db.ts';
import { type DeliveryRow, findDeliveries } from '../../deliveries/queries.ts';
import { cancelDelivery } from '../../deliveries/queue-queries.ts';
import { lockWaiting } from '../../deliveries/scheduled-queries.ts';
import { overallStatus } from '../../deliveries/status.ts';
import { getMessage, getMessageRow } from '../../messages/messages.ts';
import { lockMessages } from '../../messages/queries.ts';
import { restateMessage } from '../../messages/restate.ts';
import type { Message } from '../../messages/schema.ts';
import { type ByHand, recordByHand } from '../desk/queue-walk.ts';
import { countDropped } from '../settling/outcome-counts.ts';

/** The `errorMessage` of deliveries that their owner cancelled. */
const cancelledWords = 'Cancelled before it was sent';

/** Reason of a cancellation, with the actor for the timeline. */
export interface TakingBack {
  /** Stored as `errorMessage`. */
  words: string;
  byHand: ByHand;
}

/**
 * Locks the deliveries of a message and returns them. Until the transaction ends, no concurrent
 * transaction can claim or settle them. Deliveries are locked before their message, in the order of
 * all transactions.
 */
export async function lockWhole(trx: Db, messageId: string): Promise<DeliveryRow[]> {
  await lockWaiting(trx, [messageId]);
  // Locks the message, so that a transaction that settles a different recipient sees these changes.
  await lockMessages(trx, [messageId]);
  return findDeliveries(trx, [messageId]);
}

/**
 * Ends these deliveries of a message as cancelled, all or none, in status, timeline and counters.
 * @throws ConflictError if a delivery is being attempted.
 */
export async function endDeliveries(
  app: App,
  trx: Db,
  rows: readonly DeliveryRow[],
  { words, byHand }: TakingBack,
): Promise<void> {
  const now = app.clock.now();
  for (const row of rows) {
    if (!(await cancelDelivery(trx, row.id, words, now))) throw underWay(row.id, 'delivery');
  }
  const [first] = rows;
  if (!first) return;
  await restateMessage(trx, first.message_id, now);
  await recordByHand(app, trx, rows, 'cancelled', byHand);
  await countDropped(app, trx, rows);
}

export function underWay(id: string, resource: 'message' | 'delivery'): ConflictError {
  const advice = 'an attempt cannot be stopped; try again when it has ended';
  return new ConflictError(resource, `${id} is being attempted now: ${advice}`);
}

/**
 * Cancels a message that has reached no recipient: scheduled, queued, or waiting for a further
 * attempt. Returns an already cancelled message unchanged. @throws ConflictError if part of it was
 * sent or is being attempted, or if nothing is left to cancel; ResourceNotFoundError.
 */
export async function cancelMessage(app: App, caller: Caller, id: string): Promise<Message> {
  await app.store.write((trx) => cancelWithin(app, trx, caller, id));
  return getMessage(app, caller, id);
}

/**
 * Cancels a message in the caller's transaction. Returns false if it was cancelled already.
 * @throws as `cancelMessage`
 */
export async function cancelWithin(
  app: App,
  trx: Db,
  caller: Caller,
  id: string,
): Promise<boolean> {
  const by = caller.by.kind === 'operator' ? 'operator' : 'key';
  await getMessageRow(trx, caller.organizationId, id);
  const rows = await lockWhole(trx, id);
  const waiting = cancellable(id, rows);
  await endDeliveries(app, trx, waiting, {
    words: cancelledWords,
    byHand: { by, action: 'cancel' },
  });
  if (waiting.length === 0) return false;
  await record(app, trx, caller, { subject: id, action: 'message.cancelled' });
  return true;
}

/**
 * Returns the deliveries of a message that can still be cancelled; none after a cancellation.
 * @throws ConflictError if nothing can be cancelled, or a delivery was sent or is being attempted
 */
function cancellable(id: string, rows: readonly DeliveryRow[]): DeliveryRow[] {
  const refuse = (why: string) => new ConflictError('message', `${id} ${why}`);
  if (rows.length === 0) throw refuse('was received: there is nothing to cancel');
  const sent = rows.filter(({ sent_at }) => sent_at !== null).length;
  if (sent > 0) {
    const who = rows.length === 1 ? 'was sent' : `was sent to ${sent} of ${rows.length} recipients`;
    throw refuse(`${who}: sent mail cannot be cancelled`);
  }
  if (rows.some(({ claimed_by }) => claimed_by !== null)) throw underWay(id, 'message');
  const waiting = rows.filter(({ due_at }) => due_at !== null);
  const wasCancelled = rows.some(({ error_code }) => error_code === 'cancelled');
  if (waiting.length === 0 && !wasCancelled) {
    const status = overallStatus(rows.map((row) => row.status));
    throw refuse(`has ended (${status}): there is nothing left to cancel`);
  }
  return waiting;
}
