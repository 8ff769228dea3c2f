// SQL for the lists of threads and of their messages. One index leads from the mailbox to folder, read,
// starred and activity, so a list without one of these merges the ranges of all its values, each in order:
// a page costs its own rows. What is snoozed, and what has a label, has an index of its own.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { CursorPosition } from '../api/cursor.ts';
import { type Db, idList, isOneOf, tables } from '../store/db.ts';
import { mergedRanges } from '../store/merged-ranges.ts';
import type { Folder, ThreadMessageRow } from './queries.ts';

export interface ThreadFilter {
  mailboxId: string;
  folders: readonly Folder[];
  /** As it is compared. */
  label?: string | undefined;
  unread?: boolean | undefined;
  starred?: boolean | undefined;
  snoozed?: boolean | undefined;
  /** Ms since 1970: last activity after, and before. */
  after?: number | undefined;
  before?: number | undefined;
  now: number;
}

/** A thread in a list, and where the list goes on after it. */
export interface ListedThread extends CursorPosition {}

type Condition = RawBuilder<SqlBool>;

function allOf(conditions: readonly Condition[]): Condition {
  return sql.join(conditions, sql` and `);
}

/** Of the columns of the order, in the index that is walked. */
function within(
  { after, before }: ThreadFilter,
  place: CursorPosition | null,
  at: RawBuilder<unknown>,
  id: RawBuilder<unknown>,
): Condition[] {
  return [
    ...(after === undefined ? [] : [sql<SqlBool>`${at} > ${after}`]),
    ...(before === undefined ? [] : [sql<SqlBool>`${at} < ${before}`]),
    ...(place === null ? [] : [sql<SqlBool>`(${at}, ${id}) < (${place.at}, ${place.id})`]),
  ];
}

function flag(column: string, value: boolean | undefined): Condition[] {
  return value === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} = ${Number(value)}`];
}

function snoozedIs({ snoozed, now }: ThreadFilter): Condition[] {
  if (snoozed === undefined) return [];
  // In a form that leads to no index: few are snoozed, and that index is not in this order.
  return snoozed
    ? [sql<SqlBool>`coalesce(snoozed_until, 0) > ${now}`]
    : [sql<SqlBool>`coalesce(snoozed_until, 0) <= ${now}`];
}

/** Asked of each row that another index gives. */
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

/** The threads of one page, most recent activity first, from behind `place`. */
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

/** The messages of a thread, oldest first, from behind `place`. */
export function listMessageRows(
  db: Db,
  threadId: string,
  place: CursorPosition | null,
  limit: number,
): Promise<ThreadMessageRow[]> {
  return tables<MessageTables>(db)
    .selectFrom('thread_messages')
    .selectAll()
    .where('thread_id', '=', threadId)
    .$if(place !== null, (query) =>
      query.where(sql<SqlBool>`(at, message_id) > (${place?.at}, ${place?.id})`),
    )
    .orderBy('at')
    .orderBy('message_id')
    .limit(limit)
    .execute();
}

/** How many messages of the thread come before the first of these. */
export async function countBefore(db: Db, { thread_id, at, message_id }: ThreadMessageRow) {
  const { count } = await tables<MessageTables>(db)
    .selectFrom('thread_messages')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('thread_id', '=', thread_id)
    .where(sql<SqlBool>`(at, message_id) < (${at}, ${message_id})`)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** A thread with a message that was looked for. */
export interface Hit extends ListedThread {
  messageId: string;
}

/** Which of these messages are in threads that the filter takes, and in which. */
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
    isOneOf(db, 'm.message_id', idList(db, messageIds)),
    // By the thread of each message, never by its mailbox.
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

/** The messages of these threads. */
export async function messagesOfThreads(
  db: Db,
  threadIds: readonly string[],
): Promise<Pick<ThreadMessageRow, 'message_id' | 'thread_id'>[]> {
  return tables<MessageTables>(db)
    .selectFrom('thread_messages')
    .select(['message_id', 'thread_id'])
    .where(isOneOf(db, 'thread_id', idList(db, threadIds)))
    .execute();
}
