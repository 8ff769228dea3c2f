// All SQL on `events`, the timeline of messages (specification 2.2), and on `resource_events`, the events
// of all other resources; reads both in order. Rows only, no decisions.
import { type Expression, type SqlBool, sql } from 'kysely';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { typeOfStep } from './names.ts';

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

class ResourceEventRow {
  organization_id!: string;
  id!: string;
  event_type!: string;
  /** Id of the resource. */
  subject!: string;
  timestamp!: number;
  /** JSON of the resource at the moment of the event. */
  data!: string;
  /** JSON of further facts. */
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

/** Returns how many events of a kind a message has. */
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

/** Returns the first organization after this id that has resource events; null at the end. */
export async function nextOrganization(db: Db, after: string): Promise<string | null> {
  const row = await tables<EventTables>(db)
    .selectFrom('resource_events')
    .select('organization_id')
    .where('organization_id', '>', after)
    .orderBy('organization_id')
    .limit(1)
    .executeTakeFirst();
  return row?.organization_id ?? null;
}

/** Deletes the oldest events before id `before`, except locked rows; returns the number. */
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

/** Returns the event of a resource with this id. */
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

/** Replaces the data (JSON) of an event, and removes its facts. */
export async function replaceEventData(
  trx: Db,
  organizationId: string,
  id: string,
  data: string,
): Promise<void> {
  await tables<EventTables>(trx)
    .updateTable('resource_events')
    .set({ data, facts: null })
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

/** A row of either table in the common form of the log. */
export interface LogRow {
  id: string;
  organization_id: string;
  /** Kind of the event; a step of a message lacks the prefix `message.`. */
  event_type: string;
  /** Id of the message or of the resource. */
  subject: string;
  recipient_id: string | null;
  /** Status of the message after the event; '' for other resources. */
  status: string;
  timestamp: number;
  /** JSON of the resource; null for a message. */
  data: string | null;
  /** JSON. */
  facts: string | null;
}

/**
 * Must equal the condition of the index `events_in_order` word for word, or the index is not used.
 */
const isLogged = sql<SqlBool>`event_type not in ('queued', 'processing')`;

/** An event of the log without its data. */
export interface LogHead {
  id: string;
  /** Kind, such as `message.sent`. */
  type: string;
  /** Id of the message or of the resource. */
  subject: string;
  timestamp: number;
  /** Size of the event's data and facts. */
  bytes: number;
}

type LogTable = 'events' | 'resource_events';

export interface LogFilter {
  types?: readonly string[] | undefined;
  subject?: string | undefined;
  /** Selects events from this time on, ms since 1970. */
  since?: number | undefined;
  /** Selects events before this time, ms since 1970. */
  until?: number | undefined;
  /** Selects events with ids after `after` and before `before`. */
  after?: string | undefined;
  before?: string | undefined;
}

export type LogOrder = 'asc' | 'desc';

/** Limit of rows read for one page: a filter may match none of millions. */
const mostLogRowsRead = 5_000;
const fewestFilteredRows = 1_000;

/** Events of the log, and the id up to which it was read if more events may follow. */
export interface LogPage {
  heads: LogHead[];
  readTo: string | null;
}

function logTable(db: Db, table: LogTable, organizationId: string) {
  return tables<Record<'log', EventRow & ResourceEventRow>>(db)
    .selectFrom(sql<EventRow & ResourceEventRow>`${sql.table(table)}`.as(table as 'log'))
    .select(['id', 'organization_id', 'event_type', 'timestamp'])
    .select(table === 'events' ? sql<string>`message_id`.as('subject') : 'subject')
    .where('organization_id', '=', organizationId)
    .$if(table === 'events', (query) => query.where(isLogged));
}

function logOf(db: Db, table: LogTable, organizationId: string) {
  const isTimeline = table === 'events';
  const none = sql<null>`null`;
  return logTable(db, table, organizationId)
    .select(isTimeline ? sql<string>`status`.as('status') : sql<string>`''`.as('status'))
    .select(isTimeline ? 'recipient_id' : none.as('recipient_id'))
    .select(isTimeline ? none.as('data') : 'data')
    .select(isTimeline ? sql<string | null>`metadata`.as('facts') : 'facts');
}

/** Computes sizes by `octet_length`: neither engine reads a long text for it. */
function headsOf(db: Db, table: LogTable, organizationId: string) {
  const bytes =
    table === 'events'
      ? sql<number>`coalesce(octet_length(metadata), 0)`
      : sql<number>`octet_length(data) + coalesce(octet_length(facts), 0)`;
  return logTable(db, table, organizationId).select(bytes.as('bytes'));
}

type HeadQuery = ReturnType<typeof headsOf>;
type HeadRow = Awaited<ReturnType<HeadQuery['execute']>>[number];

function headOf(table: LogTable, { id, event_type, subject, timestamp, bytes }: HeadRow): LogHead {
  const type = table === 'events' ? typeOfStep(event_type) : event_type;
  return { id, type, subject, timestamp, bytes };
}

/** Tells whether an event matches the kinds, subject and times of a filter. */
export function fitsFilter(
  { type, subject, timestamp }: LogHead,
  filter: Omit<LogFilter, 'after' | 'before'>,
): boolean {
  const { types, since, until } = filter;
  return (
    (types === undefined || types.includes(type)) &&
    (filter.subject === undefined || subject === filter.subject) &&
    (since === undefined || timestamp >= since) &&
    (until === undefined || timestamp < until)
  );
}

/** Returns a page of one of the tables, in the order of ids. */
export async function selectLog(
  db: Db,
  table: LogTable,
  organizationId: string,
  filter: LogFilter,
  order: LogOrder,
  limit: number,
): Promise<LogPage> {
  const { after, before, subject } = filter;
  const column = table === 'events' ? 'message_id' : 'subject';
  const heads: LogHead[] = [];
  let read = 0;
  let edge = order === 'asc' ? after : before;
  for (;;) {
    const wanted = filter.types ? fewestFilteredRows : limit - heads.length;
    const size = Math.min(mostLogRowsRead - read, wanted);
    const query: HeadQuery = headsOf(db, table, organizationId)
      .$if(subject !== undefined, (q) => q.where(column as 'subject', '=', subject ?? ''))
      .$call((q) => within(q, order === 'asc' ? edge : after, order === 'asc' ? before : edge));
    const found: HeadRow[] = await query.orderBy('id', order).limit(size).execute();
    read += found.length;
    for (const row of found) {
      edge = row.id;
      const head = headOf(table, row);
      if (!fitsFilter(head, filter)) continue;
      heads.push(head);
      if (heads.length === limit) return { heads, readTo: row.id };
    }
    if (found.length < size) return { heads, readTo: null };
    if (read >= mostLogRowsRead) return { heads, readTo: edge ?? null };
  }
}

function within(
  query: HeadQuery,
  after: string | undefined,
  before: string | undefined,
): HeadQuery {
  return query
    .$if(after !== undefined, (q) => q.where('id', '>', after ?? ''))
    .$if(before !== undefined, (q) => q.where('id', '<', before ?? '')) as HeadQuery;
}

/**
 * Creates the statement that reads rows of a table of the log by their ids. The table is a
 * parameter, so `logOf` gives its type.
 */
const rowsOfLog = (table: LogTable) =>
  ownTables<unknown>().all((db, organizationId: string, ids: readonly string[]) =>
    logOf(db, table, organizationId)
      .where('id', ...isOneOf(db, ids))
      .$castTo<LogRow>(),
  );
const timelineRows = rowsOfLog('events');
const resourceRows = rowsOfLog('resource_events');

/** Returns these rows of the log, in the order of ids. */
export async function selectLogRows(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<LogRow[]> {
  const found = await timelineRows(db, organizationId, ids);
  if (found.length < ids.length) {
    const known = new Set(found.map(({ id }) => id));
    const others = ids.filter((id) => !known.has(id));
    found.push(...(await resourceRows(db, organizationId, others)));
  }
  return found.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Place of an event in the order in which transactions ended. */
export interface LogPlace extends LogHead {
  /**
   * Number of the transaction that wrote the event: PostgreSQL's `xmin`; 0 on SQLite, where ids are
   * in the order of transactions.
   */
  xid: number;
}

/**
 * Returns the places of events after an id, in the order of ids: the first `limit` of each table.
 */
export async function selectLogPlaces(
  db: Db,
  organizationId: string,
  after: string,
  limit: number,
): Promise<LogPlace[]> {
  const xid: Expression<number> =
    engineOf(db) === 'postgres' ? sql<number>`xmin::text::bigint` : sql<number>`0`;
  const found: LogPlace[] = [];
  for (const table of ['events', 'resource_events'] as const) {
    const rows = await headsOf(db, table, organizationId)
      .select(sql<number>`${xid}`.as('xid'))
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .execute();
    found.push(...rows.map((row) => ({ ...headOf(table, row), xid: row.xid })));
  }
  return found.sort((a, b) => (a.id < b.id ? -1 : 1));
}

const xids = 2 ** 32;

/**
 * Returns the number of the oldest running transaction (PostgreSQL's xid, which wraps around at
 * 2^32): all earlier ones have ended. Null on SQLite, where transactions are serial.
 */
export async function selectOldestRunning(db: Db): Promise<number | null> {
  if (engineOf(db) === 'sqlite') return null;
  const { rows } = await sql<{ xmin: string }>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as xmin`.execute(db);
  return Number(BigInt(rows[0]?.xmin ?? 0) % BigInt(xids));
}
