// Erases the data of events on a resource that is no message, in the log and in what is posted of them. Id,
// kind, time and subject stay, so that the log and its cursors hold.
import { deletedResource } from '../events/log.ts';
import { replaceEventData, type selectEvent } from '../events/queries.ts';
import { type Db, fromJson } from '../store/db.ts';
import { erasePosted } from '../webhooks/erase.ts';

type EventRow = NonNullable<Awaited<ReturnType<typeof selectEvent>>>;

interface Told {
  id?: unknown;
  mailboxId?: unknown;
  threadId?: unknown;
  message?: { id?: unknown };
}

/** The ids that an event tells, without anything else. */
function idsOf({ event_type, subject, data }: EventRow): object {
  const { id, mailboxId, threadId, message } = fromJson<Told>(data);
  if (event_type.startsWith('mailbox.message.')) {
    return { mailboxId, threadId, message: deletedResource(String(message?.id)) };
  }
  return deletedResource(typeof id === 'string' ? id : subject);
}

/** Erases an event; false where more of its receivers' answers are left than `limit`. */
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
