// All SQL on `events`: the timeline of messages (specification 2.2) and, later, what webhooks tell.
import { bulkInsert, type Db, tables } from '../store/db.ts';

export interface EventRow {
  id: string;
  organization_id: string;
  /** Empty for an event of no message. */
  message_id: string;
  recipient_id: string | null;
  event_type: string;
  status: string;
  timestamp: number;
  metadata: string | null;
}

interface EventTables {
  events: EventRow;
}

export const insertEvents = bulkInsert<EventTables>('events', [
  'id',
  'organization_id',
  'message_id',
  'recipient_id',
  'event_type',
  'status',
  'timestamp',
  'metadata',
]);

/** The timeline of a message, oldest first; bounded, since an endless retry must not fill a page. */
export function listEventRows(db: Db, messageId: string, limit: number): Promise<EventRow[]> {
  return tables<EventTables>(db)
    .selectFrom('events')
    .selectAll()
    .where('message_id', '=', messageId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** How many events of a kind a message has. */
export async function countEventRows(
  db: Db,
  messageId: string,
  eventType: string,
): Promise<number> {
  const { count } = await tables<EventTables>(db)
    .selectFrom('events')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('message_id', '=', messageId)
    .where('event_type', '=', eventType)
    .executeTakeFirstOrThrow();
  return count;
}

export async function deleteEventRows(db: Db, messageId: string): Promise<void> {
  await tables<EventTables>(db).deleteFrom('events').where('message_id', '=', messageId).execute();
}
