// Erases the data of resource events, in the log and in their webhook bodies. Id, kind, time and
// subject stay, so that the log and all cursors stay valid.
import { deletedResource } from '../../history/events/log.ts';
import { replaceEventData, type selectEvent } from '../../history/events/queries.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { erasePosted } from '../../webhooks/deliveries/erase.ts';

type EventRow = NonNullable<Awaited<ReturnType<typeof selectEvent>>>;

interface Told {
  id?: unknown;
  mailboxId?: unknown;
  threadId?: unknown;
  message?: { id?: unknown };
}

/** Returns only the ids in the data of an event. */
function idsOf({ event_type, subject, data }: EventRow): object {
  const { id, mailboxId, threadId, message } = fromJson<Told>(data);
  if (event_type.startsWith('mailbox.message.')) {
    return { mailboxId, threadId, message: deletedResource(String(message?.id)) };
  }
  return deletedResource(typeof id === 'string' ? id : subject);
}

/**
 * Erases the data of an event, and up to `limit` responses of receivers. Returns false if more
 * responses may remain.
 */
export async function eraseEvent(
  trx: Db,
  organizationId: string,
  row: EventRow,
  limit: number,
): Promise<boolean> {
  const { id, event_type: type, timestamp } = row;
  const data = idsOf(row);
  await replaceEventData(trx, organizationId, id, JSON.stringify(data));
  const erased = await erasePosted(trx, { id, type, timestamp, organizationId, data }, limit);
  return erased < limit;
}
