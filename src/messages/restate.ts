// A message's status follows from its deliveries; what moves one of them holds both and
// says it anew.

import { findDeliveryStatuses, lockDeliveries } from '../deliveries/queries.ts';
import { type MessageStatus, overallStatus } from '../deliveries/status.ts';
import type { Db } from '../store/db.ts';
import { lockMessages, updateMessageStatus } from './queries.ts';

/**
 * Holds these deliveries and their messages, in the order in which all transactions do: two daemons that
 * change two recipients of one message must not each miss what the other did.
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

/** Writes the status that the deliveries of a message make together, and returns it. */
export async function restateMessage(db: Db, id: string, now: number): Promise<MessageStatus> {
  const rows = await findDeliveryStatuses(db, [id]);
  const status = overallStatus(rows.map((row) => row.status));
  await updateMessageStatus(db, [id], status, now);
  return status;
}

/** Writes the statuses that messages have moved to; few statements, since they share few statuses. */
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
