// All SQL on `events`, the timeline of messages (specification 2.2), and on `resource_events`, what
// happened to everything else (contract 7). Rows only, no decisions.
import { bulkInsert, type Db, tables } from '../store/db.ts';

export interface EventRow {
  id: string;
  organization_id: string;
  message_id: string;
  recipient_id: string | null;
  event_type: string;
  status: string;
  timestamp: number;
  metadata: string | null;
}

export interface ResourceEventRow {
  organization_id: string;
  id: string;
  event_type: string;
  /** Id of the resource. */
  subject: string;
  timestamp: number;
  /** JSON of the resource as it was then. */
  data: string;
  /** JSON of what else is to be known. */
  facts: string | null;
}

interface EventTables {
  events: EventRow;
  resource_events: ResourceEventRow;
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

export const insertResourceEvents = bulkInsert<EventTables>('resource_events', [
  'organization_id',
  'id',
  'event_type',
  'subject',
  'timestamp',
  'data',
  'facts',
]);

/**
 * The newest events of a message, oldest of them first; bounded, since an endless retry must not fill a
 * page, and what happened last is what is looked for.
 */
export async function listEventRows(db: Db, messageId: string, limit: number): Promise<EventRow[]> {
  const newestFirst = await tables<EventTables>(db)
    .selectFrom('events')
    .selectAll()
    .where('message_id', '=', messageId)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return newestFirst.reverse();
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
