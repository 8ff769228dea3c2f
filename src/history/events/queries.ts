// SQL on `events`, the timeline of messages (specification 2.2), and on `resource_events`, the
// events of all resources that are not messages; log-queries.ts reads both tables in order. Rows
// only, no decisions.
import { type Db, engineOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export class EventRow {
  id!: string;
  organization_id!: string;
  message_id!: string;
  recipient_id!: string | null;
  event_type!: string;
  status!: string;
  timestamp!: number;
  metadata!: string | null;
}

export class ResourceEventRow {
  organization_id!: string;
  id!: string;
  event_type!: string;
  /** Id of the resource. */
  subject!: string;
  timestamp!: number;
  /** JSON of the resource at the moment of the event. */
  data!: string;
  /** JSON of further facts about the event; null without facts. */
  facts!: string | null;
}

interface EventTables {
  events: EventRow;
  resource_events: ResourceEventRow;
}

const own = ownTables<EventTables>();

export const insertEvents = own.bulkInsert('events', EventRow);

export const insertResourceEvents = own.bulkInsert('resource_events', ResourceEventRow);

/**
 * Returns the newest `limit` events of a message, in the order of time. Bounded because endless
 * retries must not fill a page; the latest events matter most.
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

/** Returns the number of events of a kind that a message has. */
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

/** Deletes up to `limit` oldest unlocked events before the id `before`. Returns the number. */
export async function deleteResourceEvents(
  trx: Db,
  organizationId: string,
  before: string,
  limit: number,
): Promise<number> {
  const old = tables<EventTables>(trx)
    .selectFrom('resource_events')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '<', before)
    .orderBy('id')
    .limit(limit)
    .$if(engineOf(trx) === 'postgres', (query) => query.forUpdate().skipLocked());
  const { numDeletedRows } = await tables<EventTables>(trx)
    .deleteFrom('resource_events')
    .where('organization_id', '=', organizationId)
    .where('id', 'in', old)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

type ErasableRow = Pick<ResourceEventRow, 'id' | 'event_type' | 'subject' | 'timestamp' | 'data'>;

const erasableColumns = ['id', 'event_type', 'subject', 'timestamp', 'data'] as const;

/** Returns events of a resource with ids after `after`, in order. */
export function selectEventsOf(
  trx: Db,
  organizationId: string,
  subject: string,
  after: string,
  limit: number,
): Promise<ErasableRow[]> {
  return tables<EventTables>(trx)
    .selectFrom('resource_events')
    .select(erasableColumns)
    .where('organization_id', '=', organizationId)
    .where('subject', '=', subject)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/**
 * Returns events of a resource with ids from `from` to before `to` and a kind that begins with
 * `prefix`.
 */
export function selectEventsBetween(
  trx: Db,
  organizationId: string,
  subject: string,
  { prefix, from, to }: { prefix: string; from: string; to: string },
): Promise<ErasableRow[]> {
  return tables<EventTables>(trx)
    .selectFrom('resource_events')
    .select(erasableColumns)
    .where('organization_id', '=', organizationId)
    .where('subject', '=', subject)
    .where('id', '>=', from)
    .where('id', '<', to)
    .where('event_type', 'like', `${prefix}%`)
    .execute();
}

/** Returns the resource event with this event id. */
export function selectEvent(
  trx: Db,
  organizationId: string,
  id: string,
): Promise<ErasableRow | undefined> {
  return tables<EventTables>(trx)
    .selectFrom('resource_events')
    .select(erasableColumns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Facts of an erased event. The sealed log keeps the hash of the earlier data. */
const erasedFacts = JSON.stringify({ erased: true });

/** Tells whether the data of an event was erased. */
export function isErased({ facts }: { facts: string | null }): boolean {
  return facts === erasedFacts;
}

/** Replaces the data (JSON) of an event. The facts then only say that the data was erased. */
export async function replaceEventData(
  trx: Db,
  organizationId: string,
  id: string,
  data: string,
): Promise<void> {
  await tables<EventTables>(trx)
    .updateTable('resource_events')
    .set({ data, facts: erasedFacts })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
}

/** Counts the events of a resource by kind, with ids from `from` to before `to`. */
export function countResourceEvents(
  db: Db,
  organizationId: string,
  subject: string,
  from: string,
  to: string,
): Promise<{ name: string; count: number }[]> {
  return tables<EventTables>(db)
    .selectFrom('resource_events')
    .select('event_type as name')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('subject', '=', subject)
    .where('id', '>=', from)
    .where('id', '<', to)
    .groupBy('event_type')
    .execute();
}

/** Erases names of persons in the data of resource events, and marks these events as erased. */
export const eraseEventNames = own.namesIn(
  'resource_events',
  { data: 'data' },
  { isOfOrganization: true, mark: { facts: erasedFacts } },
);
