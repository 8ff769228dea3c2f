// The log of an organization's events, in the order of ids. Merges two sources into a single list:
// the timelines of messages, and the table of all other events. follow.ts follows the log as it
// grows.

import { cursorAfter, readCursor } from '../../core/api/cursor.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { firstIdAt, timeOfId } from '../../platform/runtime/ids.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import type { MessageLogEntry } from './hooks.ts';
import {
  countWithin,
  type LogFilter,
  type LogHead,
  type LogOrder,
  type LogRow,
  selectLog,
  selectLogRows,
} from './log-queries.ts';
import { stepOfType, typeOfStep } from './names.ts';
import type { DeletedResource, ListLog, LogItem } from './schema.ts';
import { shownData } from './shown-data.ts';

/** A recorded event. Its status is '' for events on resources that are not messages. */
export interface LogEntry extends MessageLogEntry {
  /** The resource as it was at the event; null for a message, of which the log keeps no copy. */
  data: object | null;
}

function toEntry(row: LogRow): LogEntry {
  const { id, organization_id, event_type, subject, recipient_id, timestamp, status } = row;
  return {
    id,
    organizationId: organization_id,
    type: row.data === null ? typeOfStep(event_type) : event_type,
    subject,
    recipientId: recipient_id,
    timestamp,
    status,
    data: fromJson<object>(row.data),
    facts: fromJson<Record<string, unknown>>(row.facts),
  };
}

/** Returns the data of events on a deleted resource. */
export function deletedResource(id: string): DeletedResource {
  return { id, deleted: true };
}

/** Returns the data of an organization's events, by event id. */
export async function dataOfEntries(
  app: App,
  organizationId: string,
  entries: readonly LogEntry[],
): Promise<Map<string, object>> {
  const ofMessages = entries.filter(({ data }) => data === null);
  const shown =
    ofMessages.length === 0
      ? new Map<string, object>()
      : await app.hooks.presentMessageEvents(app, organizationId, ofMessages);
  const dataOf = ({ id, data, subject }: LogEntry) =>
    data ?? shown.get(id) ?? deletedResource(subject);
  return new Map(entries.map((entry) => [entry.id, dataOf(entry)]));
}

type Reading = Pick<Caller, 'installation' | 'permissions'>;

/** Presents the event as in the API. An installation sees only permitted parts. */
function itemOf(
  { installation, permissions }: Reading,
  entry: LogEntry,
  told: ReadonlyMap<string, object>,
): LogItem {
  const { id, type, timestamp, organizationId } = entry;
  const whole = told.get(id) as object;
  const data = (installation ? shownData(type, whole, permissions) : whole) as LogItem['data'];
  return { id, type, timestamp: isoTime(timestamp), organizationId, data };
}

/** Presents an event as in the API; to an installation only the permitted parts. */
export async function presentEntry(app: App, caller: Caller, entry: LogEntry): Promise<LogItem> {
  return itemOf(caller, entry, await dataOfEntries(app, entry.organizationId, [entry]));
}

/**
 * Returns the requested kinds of events; undefined for all kinds. An installation gets only kinds
 * that the installed version of the extension declares.
 */
function typesFor(
  { installation }: Reading,
  asked: readonly string[] | undefined,
): readonly string[] | undefined {
  if (!installation) return asked;
  return installation.events.filter((type) => asked?.includes(type) ?? true);
}

/** Returns these events, in the order of ids; deleted events are left out. */
export async function readEvents(
  db: Db,
  organizationId: string,
  ids: readonly string[],
): Promise<LogEntry[]> {
  return (await selectLogRows(db, organizationId, ids)).map(toEntry);
}

interface Part {
  heads: LogHead[];
  /** Id up to which the log was read, if more may follow; null at the end. */
  readTo: string | null;
}

/** Returns the tables that may have events of these kinds on this subject. */
function tablesOf({ types, subject }: LogFilter): ('events' | 'resource_events')[] {
  const isOfMessage = subject?.startsWith('msg_');
  const steps = types?.filter((type) => stepOfType(type) !== null).length;
  const others = types?.filter((type) => stepOfType(type) === null).length;
  return [
    ...(isOfMessage !== false && steps !== 0 ? ['events' as const] : []),
    ...(isOfMessage !== true && others !== 0 ? ['resource_events' as const] : []),
  ];
}

/** Longest time from an event to the creation of the id; a generous bound. */
const latestIdMs = 3_600_000;

/**
 * Returns the upper bound of ids: `before`, or the latest id for the time `until` if that is
 * earlier. Thereby a page skips later events without reading them. Undefined without a bound.
 */
function earlierOf(before: string | undefined, until: number | undefined): string | undefined {
  if (until === undefined) return before;
  const end = firstIdAt('event', Math.max(0, until) + latestIdMs);
  return before !== undefined && before < end ? before : end;
}

/** Reads at least `limit` events if the log has so many, unless it would read too many rows. */
async function readPart(
  db: Db,
  organizationId: string,
  wanted: LogFilter,
  order: LogOrder,
  limit: number,
): Promise<Part> {
  const from = wanted.since === undefined ? '' : firstIdAt('event', wanted.since);
  const after = [wanted.after ?? '', from].sort().at(-1);
  const filter = {
    ...wanted,
    after: after === '' ? undefined : after,
    before: earlierOf(wanted.before, wanted.until),
  };
  const pages = await Promise.all(
    tablesOf(wanted).map((table) => selectLog(db, table, organizationId, filter, order, limit)),
  );
  const inOrder = (a: string, b: string) => (a < b === (order === 'asc') ? -1 : 1);
  const [readTo = null] = pages.flatMap((page) => page.readTo ?? []).sort(inOrder);
  const heads = pages
    .flatMap((page) => page.heads)
    .filter(({ id }) => readTo === null || id === readTo || inOrder(id, readTo) < 0)
    .sort((a, b) => inOrder(a.id, b.id));
  return { heads, readTo };
}

/** An event of the log without data. */
export type LogMention = Omit<LogHead, 'bytes'> & { organizationId: string };

/**
 * Returns events from `since` to before `until` (ms since 1970) whose ids come after `after`,
 * oldest first. `next` is the `after` of the following call; null at the end. A call reads a
 * bounded number of rows, so it may return no event and still have a `next`.
 */
export async function logBetween(
  db: Db,
  organizationId: string,
  range: { since?: number; until?: number; types?: readonly string[] | null },
  after: string | null,
  limit: number,
): Promise<{ entries: LogMention[]; next: string | null }> {
  const { since, until, types } = range;
  const wanted = { since, until, types: types ?? undefined, after: after ?? undefined };
  const { heads, readTo } = await readPart(db, organizationId, wanted, 'asc', limit);
  const entries = heads
    .slice(0, limit)
    .map(({ bytes: _, ...head }) => ({ ...head, organizationId }));
  const isCut = heads.length > limit;
  return { entries, next: isCut ? (entries.at(-1)?.id ?? null) : readTo };
}

/** Most bytes of event data in a page. */
const mostPageBytes = 4_194_304;

/**
 * Returns a page of the log, newest first by default. The rows read for a page are bounded, so a
 * page may be short or empty and still have a next page.
 * @throws ValidationError (a foreign cursor).
 */
export async function listLog(
  app: App,
  caller: Caller,
  { type, subject, order, limit, cursor, ...range }: ListLog,
): Promise<{ items: LogItem[]; nextCursor: string | null }> {
  const { organizationId } = caller;
  const { from, to } = boundsOf(range);
  const scope = ['events', organizationId, type, subject, from, to, order];
  const place = cursor === undefined ? undefined : readCursor(scope, cursor).id;
  const isOldestFirst = order === 'asc';
  const wanted: LogFilter = {
    types: typesFor(caller, type),
    subject,
    since: from,
    until: to,
    after: isOldestFirst ? place : undefined,
    before: isOldestFirst ? undefined : place,
  };
  const { db } = app.store;
  const { heads, readTo } = await readPart(db, organizationId, wanted, order, limit + 1);
  const ids = heads.slice(0, countWithin(heads.slice(0, limit), mostPageBytes)).map(({ id }) => id);
  const last = heads.length > ids.length ? (ids.at(-1) ?? null) : readTo;
  const entries = await readEvents(db, organizationId, ids);
  const shown = isOldestFirst ? entries : entries.reverse();
  const told = await dataOfEntries(app, organizationId, shown);
  return {
    items: shown.map((entry) => itemOf(caller, entry, told)),
    nextCursor: last === null ? null : cursorAfter(scope, { at: timeOfId(last), id: last }),
  };
}
