// The status of a message, computed from its deliveries. A change of a delivery locks the delivery
// and the message, and computes the status again.

import type { Db } from '../../platform/store/db.ts';
import { findDeliveryStatuses, lockDeliveries } from '../deliveries/queries.ts';
import { type MessageStatus, overallStatus } from '../deliveries/status.ts';
import { lockMessages, updateMessageStatus } from './queries.ts';

/**
 * Locks deliveries and then their messages, in the order of all transactions. Without the locks,
 * two daemons that change two recipients of a message could each miss the concurrent change.
 */
export async function lockWithMessages(
  db: Db,
  deliveries: readonly { id: string; message_id: string }[],
): Promise<void> {
  const ids = deliveries.map(({ id }) => id);
  await lockDeliveries(db, ids);
  const messageIds = deliveries.map(({ message_id }) => message_id);
  await lockMessages(db, messageIds);
}

/** Computes the status of a message from the deliveries, writes it and returns it. */
export async function restateMessage(db: Db, id: string, now: number): Promise<MessageStatus> {
  const rows = await findDeliveryStatuses(db, [id]);
  const status = overallStatus(rows.map((row) => row.status));
  await updateMessageStatus(db, [id], status, now);
  return status;
}

/**
 * Writes the new statuses of messages. Needs few statements, because many messages share few
 * statuses.
 */
export async function moveMessages(
  db: Db,
  moved: ReadonlyMap<string, MessageStatus>,
  now: number,
): Promise<void> {
  for (const [status, messages] of Map.groupBy(moved, ([, reached]) => reached)) {
    const ids = messages.map(([id]) => id);
    await updateMessageStatus(db, ids, status, now);
  }
}
