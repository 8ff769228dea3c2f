// SQL on the log: `events` and `resource_events` as a single list, in the order of ids.
import { type Expression, type SqlBool, sql } from 'kysely';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { typeOfStep } from './names.ts';
import type { EventRow, ResourceEventRow } from './queries.ts';

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
  /** Further facts as JSON; null without facts. */
  facts: string | null;
}

/**
 * Must equal the condition of the index `events_in_order` word for word, or the index is not used.
 */
const isLogged = sql<SqlBool>`event_type not in ('queued', 'processing')`;

/** An event of the log without data. */
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

export type LogTable = 'events' | 'resource_events';

/** Returns how many of these events fit into `mostBytes`; at least 1. */
export function countWithin(heads: readonly { bytes: number }[], mostBytes: number): number {
  let sum = 0;
  const beyond = heads.findIndex(({ bytes }, index) => {
    sum += bytes;
    return index > 0 && sum > mostBytes;
  });
  return beyond === -1 ? heads.length : beyond;
}

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

/** Most rows read for one page: a filter may match none of millions of rows. */
const mostLogRowsRead = 5_000;
const fewestFilteredRows = 1_000;

/** Events of the log. If more events may follow, also the id up to which the log was read. */
export interface LogPage {
  heads: LogHead[];
  readTo: string | null;
}

function logTable(db: Db, table: LogTable) {
  return tables<Record<'log', EventRow & ResourceEventRow>>(db)
    .selectFrom(sql<EventRow & ResourceEventRow>`${sql.table(table)}`.as(table as 'log'))
    .$if(table === 'events', (query) => query.where(isLogged));
}

function logTableOf(db: Db, table: LogTable, organizationId: string) {
  return logTable(db, table)
    .select(['id', 'organization_id', 'event_type', 'timestamp'])
    .select(table === 'events' ? sql<string>`message_id`.as('subject') : 'subject')
    .where('organization_id', '=', organizationId);
}

function logOf(db: Db, table: LogTable, organizationId: string) {
  const isTimeline = table === 'events';
  const none = sql<null>`null`;
  return logTableOf(db, table, organizationId)
    .select(isTimeline ? sql<string>`status`.as('status') : sql<string>`''`.as('status'))
    .select(isTimeline ? 'recipient_id' : none.as('recipient_id'))
    .select(isTimeline ? none.as('data') : 'data')
    .select(isTimeline ? sql<string | null>`metadata`.as('facts') : 'facts');
}

/**
 * Returns a query of events with the size of their data. Neither engine reads a long text for
 * `octet_length`.
 */
function headsOf(db: Db, table: LogTable, organizationId: string) {
  const bytes =
    table === 'events'
      ? sql<number>`coalesce(octet_length(metadata), 0)`
      : sql<number>`octet_length(data) + coalesce(octet_length(facts), 0)`;
  return logTableOf(db, table, organizationId).select(bytes.as('bytes'));
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

/**
 * Returns up to `limit` events of a table that match `filter`, in the order of ids. Reads at most
 * 5,000 rows.
 */
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

/** Returns a query of the rows of a table (`events` or `resource_events`) with given ids. */
const rowsOfLog = (table: LogTable) =>
  ownTables<unknown>().all((db, organizationId: string, ids: readonly string[]) =>
    logOf(db, table, organizationId)
      .where('id', ...isOneOf(db, ids))
      .$castTo<LogRow>(),
  );
/** Returns the steps of messages with these ids, in no order. */
export const selectStepRows = rowsOfLog('events');
/** Returns the events of resources with these ids, in no order. */
export const selectResourceRows = rowsOfLog('resource_events');

/** Returns the sizes of these events of `resource_events`, in no order. */
export const selectLogSizes = ownTables<unknown>().all(
  (db, organizationId: string, ids: readonly string[]) =>
    headsOf(db, 'resource_events', organizationId).where('id', ...isOneOf(db, ids)),
);

/** Returns these rows of the log, in the order of ids. */
export async function selectLogRows(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<LogRow[]> {
  const found = await selectStepRows(db, organizationId, ids);
  if (found.length < ids.length) {
    const known = new Set(found.map(({ id }) => id));
    const others = ids.filter((id) => !known.has(id));
    found.push(...(await selectResourceRows(db, organizationId, others)));
  }
  return found.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Place of an event in the order of transactions. */
export interface LogPlace extends LogHead {
  /**
   * Number of the transaction that wrote the event: PostgreSQL's `xmin`; 0 on SQLite, where ids are
   * in the order of transactions.
   */
  xid: number;
}

/**
 * Returns the places of events between two ids, in the order of ids: the first `limit` of each
 * table.
 */
export async function selectLogPlaces(
  db: Db,
  organizationId: string,
  { after, before }: { after: string; before?: string | undefined },
  limit: number,
): Promise<LogPlace[]> {
  const xid: Expression<number> =
    engineOf(db) === 'postgres' ? sql<number>`xmin::text::bigint` : sql<number>`0`;
  const found: LogPlace[] = [];
  for (const table of ['events', 'resource_events'] as const) {
    const rows = await headsOf(db, table, organizationId)
      .select(sql<number>`${xid}`.as('xid'))
      .where('id', '>', after)
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
      .orderBy('id')
      .limit(limit)
      .execute();
    found.push(...rows.map((row) => ({ ...headOf(table, row), xid: row.xid })));
  }
  return found.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * Returns the first events of a message that the log has, in the order of ids. The message is the
 * only condition: with the organization, SQLite would read the whole log of the organization.
 */
export const selectLogOfMessage = ownTables<{ events: EventRow }>().all(
  (db, messageId: string, limit: number) =>
    db
      .selectFrom('events')
      .select(['id', 'organization_id', 'event_type', 'message_id as subject', 'recipient_id'])
      .select(['status', 'timestamp', sql<null>`null`.as('data'), 'metadata as facts'])
      .where('message_id', '=', messageId)
      .where(isLogged)
      .orderBy('id')
      .limit(limit)
      .$castTo<LogRow>(),
);

/** Counts the events of a message that the log has. */
export const countLogOfMessage = ownTables<{ events: EventRow }>().first((db, messageId: string) =>
  db
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('message_id', '=', messageId)
    .where(isLogged),
);

/** Text that sorts after the id of every event. */
export const idAfterAll = 'evt_~';

/** Range of ids; the ends are excluded. */
interface IdRange {
  after: string;
  before: string;
}

const stepsBetween = ownTables<unknown>().all(
  (db, organizationId: string, after: string, before: string, limit: number) =>
    logOf(db, 'events', organizationId)
      .where('id', '>', after)
      .where('id', '<', before)
      .orderBy('id')
      .limit(limit)
      .$castTo<LogRow>(),
);

/**
 * Returns at most `limit` events with ids between `after` and `before`, in the order of ids. Events
 * on resources have at most `mostBytes` together, but at least one event is returned.
 */
export async function selectLogBetween(
  db: Db,
  organizationId: string,
  { after, before }: IdRange,
  limit: number,
  mostBytes: number,
): Promise<LogRow[]> {
  const steps = await stepsBetween(db, organizationId, after, before, limit);
  const heads = await headsOf(db, 'resource_events', organizationId)
    .where('id', '>', after)
    .where('id', '<', before)
    .orderBy('id')
    .limit(limit)
    .execute();
  const count = countWithin(heads, mostBytes);
  const ids = heads.slice(0, count).map(({ id }) => id);
  const others = ids.length === 0 ? [] : await selectResourceRows(db, organizationId, ids);
  // A read that stopped at a limit may have left rows behind the last row of the table.
  const isCut = count < heads.length || heads.length === limit;
  const lastStep = steps[limit - 1]?.id ?? idAfterAll;
  const lastOther = (isCut ? ids.at(-1) : undefined) ?? idAfterAll;
  const end = lastStep < lastOther ? lastStep : lastOther;
  return [...steps, ...others]
    .filter(({ id }) => id <= end)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

/**
 * Returns the first organization after this id that has events in these tables; null at the end.
 */
export async function nextOrganization(
  db: Db,
  of: readonly LogTable[],
  after: string,
): Promise<string | null> {
  const found = of.map((table) =>
    logTable(db, table)
      .select('organization_id')
      .where('organization_id', '>', after)
      .orderBy('organization_id')
      .limit(1)
      .executeTakeFirst(),
  );
  const ids = (await Promise.all(found)).flatMap((row) => row?.organization_id ?? []);
  return ids.sort()[0] ?? null;
}

const xids = 2 ** 32;

/**
 * Returns the number of the oldest running transaction (PostgreSQL's xid, which wraps around at
 * 2^32): all earlier transactions have ended. Null on SQLite, where transactions are serial.
 */
export async function selectOldestRunning(db: Db): Promise<number | null> {
  if (engineOf(db) === 'sqlite') return null;
  const { rows } = await sql<{ xmin: string }>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as xmin`.execute(db);
  return Number(BigInt(rows[0]?.xmin ?? 0) % BigInt(xids));
}
