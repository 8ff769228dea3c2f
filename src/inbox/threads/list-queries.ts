// SQL for the lists of threads and of their messages. The main index orders threads by mailbox,
// folder, read, starred, then activity. A list without a filter on a column merges the sorted
// ranges of all values of the column, so a page costs only the rows that it returns. Snoozed and
// labelled threads have separate indexes.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { CursorPosition } from '../../core/api/cursor.ts';
import { ofMailboxThat } from '../../identity/mailboxes/queries.ts';
import { amongOf, type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { mergedRanges } from '../../platform/store/rows/merged-ranges.ts';
import type { Folder } from './folders.ts';
import type { ThreadMessageRow } from './queries.ts';

export interface ThreadFilter {
  mailboxId: string;
  folders: readonly Folder[];
  /** The label folded for comparison. */
  label?: string | undefined;
  unread?: boolean | undefined;
  starred?: boolean | undefined;
  snoozed?: boolean | undefined;
  /** Bounds of the last activity, ms since 1970: `from` is included, `to` is not. */
  from?: number | undefined;
  to?: number | undefined;
  now: number;
}

/** A thread in a list, with the position of the cursor after this thread. */
export interface ListedThread extends CursorPosition {}

type Condition = RawBuilder<SqlBool>;

function allOf(conditions: readonly Condition[]): Condition {
  return sql.join(conditions, sql` and `);
}

/** Returns the conditions on time and cursor position, which the index of the list covers. */
function within(
  { from, to }: ThreadFilter,
  place: CursorPosition | null,
  at: RawBuilder<unknown>,
  id: RawBuilder<unknown>,
): Condition[] {
  return [
    ...(from === undefined ? [] : [sql<SqlBool>`${at} >= ${from}`]),
    ...(to === undefined ? [] : [sql<SqlBool>`${at} < ${to}`]),
    ...(place === null ? [] : [sql<SqlBool>`(${at}, ${id}) < (${place.at}, ${place.id})`]),
  ];
}

function flag(column: string, value: boolean | undefined): Condition[] {
  return value === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} = ${Number(value)}`];
}

function snoozedIs({ snoozed, now }: ThreadFilter): Condition[] {
  if (snoozed === undefined) return [];
  // An expression, so that no index is chosen: few threads are snoozed, and their index has a
  // different order.
  return snoozed
    ? [sql<SqlBool>`coalesce(snoozed_until, 0) > ${now}`]
    : [sql<SqlBool>`coalesce(snoozed_until, 0) <= ${now}`];
}

/** Returns the conditions that an index by label or snooze does not cover: each row is tested. */
function rest(filter: ThreadFilter): Condition[] {
  return [
    sql<SqlBool>`folder in (${sql.join(filter.folders)})`,
    ...flag('is_read', filter.unread === undefined ? undefined : !filter.unread),
    ...flag('is_starred', filter.starred),
    ...snoozedIs(filter),
  ];
}

function shelves(filter: ThreadFilter, place: CursorPosition | null): RawBuilder<unknown>[] {
  const { mailboxId, folders, unread, starred } = filter;
  const both = [false, true];
  const limits = within(filter, place, sql.ref('last_activity_at'), sql.ref('id'));
  return folders.flatMap((folder) =>
    (unread === undefined ? both : [!unread]).flatMap((isRead) =>
      (starred === undefined ? both : [starred]).map((isStarred) => {
        const condition = allOf([
          sql`mailbox_id = ${mailboxId}`,
          sql`folder = ${folder}`,
          sql`is_read = ${Number(isRead)}`,
          sql`is_starred = ${Number(isStarred)}`,
          ...limits,
          ...snoozedIs(filter),
        ]);
        return sql`select id, last_activity_at as at from threads where ${condition}`;
      }),
    ),
  );
}

function rangesOf(filter: ThreadFilter, place: CursorPosition | null): RawBuilder<unknown>[] {
  const { mailboxId, label, snoozed } = filter;
  if (label !== undefined) {
    const limits = within(filter, place, sql.ref('l.last_activity_at'), sql.ref('l.thread_id'));
    const condition = allOf([
      sql`l.mailbox_id = ${mailboxId}`,
      sql`l.folded = ${label}`,
      ...limits,
      ...rest(filter),
    ]);
    return [
      sql`select l.thread_id as id, l.last_activity_at as at
        from thread_labels l cross join threads t
        where t.id = l.thread_id and ${condition}`,
    ];
  }
  if (snoozed === true) {
    const condition = allOf([
      sql`mailbox_id = ${mailboxId}`,
      sql`snoozed_until is not null`,
      ...within(filter, place, sql.ref('last_activity_at'), sql.ref('id')),
      ...rest(filter),
    ]);
    return [sql`select id, last_activity_at as at from threads where ${condition}`];
  }
  return shelves(filter, place);
}

/** Returns a page of threads after `place`, most recent activity first. */
export async function listThreadIds(
  db: Db,
  filter: ThreadFilter,
  place: CursorPosition | null,
  limit: number,
): Promise<ListedThread[]> {
  const order = sql`order by at desc, id desc`;
  const page = mergedRanges(db, rangesOf(filter, place), order, { limit, offset: 0 });
  return (await sql<ListedThread>`${page}`.execute(db)).rows;
}

interface MessageTables {
  thread_messages: ThreadMessageRow;
  threads: { id: string; mailbox_id: string };
}

/** A page of the messages of a thread: after `place`, and within bounds of time. */
interface MessagesPage {
  place: CursorPosition | null;
  limit: number;
  from: number | undefined;
  to: number | undefined;
}

/** Returns the messages of a page, oldest first. */
export function listMessageRows(
  db: Db,
  threadId: string,
  { place, limit, from, to }: MessagesPage,
): Promise<ThreadMessageRow[]> {
  return tables<MessageTables>(db)
    .selectFrom('thread_messages')
    .selectAll()
    .where('thread_id', '=', threadId)
    .$if(place !== null, (query) =>
      query.where(sql<SqlBool>`(at, message_id) > (${place?.at}, ${place?.id})`),
    )
    .$if(from !== undefined, (query) => query.where('at', '>=', from ?? 0))
    .$if(to !== undefined, (query) => query.where('at', '<', to ?? 0))
    .orderBy('at')
    .orderBy('message_id')
    .limit(limit)
    .execute();
}

/** Counts the messages that precede this message in the thread. */
export async function countBefore(db: Db, { thread_id, at, message_id }: ThreadMessageRow) {
  const { count } = await tables<MessageTables>(db)
    .selectFrom('thread_messages')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('thread_id', '=', thread_id)
    .where(sql<SqlBool>`(at, message_id) < (${at}, ${message_id})`)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Returns the id of the mailbox once for each unread thread in the inbox that is not snoozed, at
 * most `most` times for a mailbox. `reach` is a condition on mailboxes.
 */
export async function selectUnread(
  db: Db,
  mailboxIds: readonly string[],
  {
    organizationId,
    reach,
    now,
    most,
  }: { organizationId: string; reach: RawBuilder<boolean>; now: number; most: number },
): Promise<string[]> {
  if (mailboxIds.length === 0) return [];
  const ranges = mailboxIds.map((mailboxId) => {
    const unread = { mailboxId, folders: ['inbox' as const], unread: true, snoozed: false, now };
    const order = sql`order by at desc, id desc`;
    const found = mergedRanges(db, shelves(unread, null), order, { limit: most, offset: 0 });
    return sql`select cast(${mailboxId} as text) as mailbox_id from (${found}) unread`;
  });
  const own = sql<boolean>`${reach} and organization_id = ${organizationId}`;
  const { rows } = await sql<{ id: string }>`
    select mailbox_id as id from (${sql.join(ranges, sql` union all `)}) boxes
    where ${ofMailboxThat('boxes.mailbox_id', own)}`.execute(db);
  return rows.map(({ id }) => id);
}

/** A thread with the message that matched the search. */
export interface Hit extends ListedThread {
  messageId: string;
}

/** Returns these messages with their threads, as far as the threads match the filter. */
export async function hitsAmong(
  db: Db,
  filter: ThreadFilter,
  messageIds: readonly string[],
): Promise<Hit[]> {
  if (messageIds.length === 0) return [];
  const labelled =
    filter.label === undefined
      ? []
      : [
          sql<SqlBool>`exists (select 1 from thread_labels l where l.thread_id = t.id
            and l.folded = ${filter.label})`,
        ];
  const condition = allOf([
    amongOf(db, 'm.message_id', messageIds),
    // The concatenation prevents the use of the mailbox index: the query must start from the thread
    // of each message.
    sql`t.mailbox_id || '' = ${filter.mailboxId}`,
    ...within(filter, null, sql.ref('t.last_activity_at'), sql.ref('t.id')),
    ...rest(filter),
    ...labelled,
  ]);
  const { rows } = await sql<Hit>`
    select t.id, t.last_activity_at as at, m.message_id as "messageId"
    from thread_messages m join threads t on t.id = m.thread_id where ${condition}`.execute(db);
  return rows;
}

export async function messagesOfThreads(
  db: Db,
  threadIds: readonly string[],
): Promise<Pick<ThreadMessageRow, 'message_id' | 'thread_id'>[]> {
  return tables<MessageTables>(db)
    .selectFrom('thread_messages')
    .select(['message_id', 'thread_id'])
    .where('thread_id', ...isOneOf(db, threadIds))
    .execute();
}
