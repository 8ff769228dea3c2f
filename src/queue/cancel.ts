// Taking back what has not been sent: a message by its owner, deliveries by the operator
// (desk/queue.ts, drop). The vocabulary of statuses has no `cancelled`: what is taken back ends as
// `failed`, `errorCode` `cancelled`, and the timeline says `cancelled`.

import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { type DeliveryRow, findDeliveries } from '../deliveries/queries.ts';
import { cancelDelivery } from '../deliveries/queue-queries.ts';
import { lockWaiting } from '../deliveries/scheduled-queries.ts';
import { overallStatus } from '../deliveries/status.ts';
import { ConflictError } from '../errors.ts';
import { record } from '../events/record.ts';
import { getMessage, getMessageRow } from '../messages/messages.ts';
import { lockMessages } from '../messages/queries.ts';
import { restateMessage } from '../messages/restate.ts';
import type { Message } from '../messages/schema.ts';
import type { Db } from '../store/db.ts';
import { type ByHand, tellByHand } from './desk/queue-walk.ts';
import { countDropped } from './outcome-counts.ts';

/** Taken back by its owner, as `errorMessage` tells it. */
const cancelledWords = 'Cancelled before it was sent';

/** How deliveries are taken back. */
export interface TakingBack {
  /** As `errorMessage` tells it. */
  words: string;
  byHand: ByHand;
}

/**
 * The deliveries of a message as they are until the transaction ends: nobody claims or settles them
 * meanwhile. In the order in which all transactions lock: deliveries, then their message.
 */
export async function lockWhole(trx: Db, messageId: string): Promise<DeliveryRow[]> {
  await lockWaiting(trx, messageId);
  // What settles another recipient at this moment must see what becomes of these.
  await lockMessages(trx, [messageId]);
  return findDeliveries(trx, [messageId]);
}

/**
 * Ends these deliveries of one message, all of them or none: status, timeline and counters.
 * @throws ConflictError where an attempt of one is under way.
 */
export async function takeBack(
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
  await tellByHand(app, trx, rows, 'cancelled', byHand);
  await countDropped(app, trx, rows);
}

export function underWay(id: string, resource: 'message' | 'delivery'): ConflictError {
  const advice = 'an attempt cannot be called back; try again when it has ended';
  return new ConflictError(resource, `${id} is being attempted now: ${advice}`);
}

/**
 * Takes a message back that nobody has got: what is scheduled, queued, or waits for another attempt.
 * One that was cancelled before is returned as it is.
 * @throws ConflictError where some of it was sent, is being attempted, or nothing is left to cancel;
 * ResourceNotFoundError.
 */
export async function cancelMessage(app: App, caller: Caller, id: string): Promise<Message> {
  const by = caller.keyId === null ? 'operator' : 'key';
  await app.store.write(async (trx) => {
    await getMessageRow(trx, caller.organizationId, id);
    const rows = await lockWhole(trx, id);
    const waiting = cancellable(id, rows);
    await takeBack(app, trx, waiting, { words: cancelledWords, byHand: { by, action: 'cancel' } });
    if (waiting.length === 0) return;
    await record(app, trx, caller, { subject: id, action: 'message.cancelled' });
  });
  return getMessage(app, caller, id);
}

/** What is left to cancel of a message with these deliveries. */
function cancellable(id: string, rows: readonly DeliveryRow[]): DeliveryRow[] {
  const refuse = (why: string) => new ConflictError('message', `${id} ${why}`);
  if (rows.length === 0) throw refuse('came in: there is nothing to cancel');
  const sent = rows.filter(({ sent_at }) => sent_at !== null).length;
  if (sent > 0) {
    const who = rows.length === 1 ? 'was sent' : `was sent to ${sent} of ${rows.length} recipients`;
    throw refuse(`${who}: what was sent cannot be called back`);
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
