// All SQL on `threads` and `thread_messages`, except the lists (list-queries.ts). Rows only, no decisions.
// Look-ups by key are in reference-queries.ts. On PostgreSQL a transaction that changes which messages a
// thread has locks the row of its mailbox first.
import { type Kysely, sql } from 'kysely';
import {
  bulkInsert,
  change,
  type Db,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
  tables,
} from '../../platform/store/db.ts';
import { rowsOf } from '../../platform/store/rows.ts';
import type { Folder } from './folders.ts';

/** Kind of a message in a thread: `sent` is from this mailbox, all others were received. */
export type ThreadMessageKind = 'person' | 'auto-reply' | 'list' | 'bounce' | 'sent';

export interface ThreadRow {
  id: string;
  organization_id: string;
  mailbox_id: string;
  folder: Folder;
  is_read: number;
  is_starred: number;
  /** Never decreases, so that a walk over a list meets a thread once. */
  last_activity_at: number;
  snoozed_until: number | null;
  priority: 'high' | 'normal' | 'low';
  message_count: number;
  /** Number of messages with attachments. */
  attachment_count: number;
  from_address: string | null;
  from_name: string | null;
  subject: string | null;
  preview: string | null;
  created_at: number;
  updated_at: number;
}

export interface ThreadMessageRow {
  message_id: string;
  thread_id: string;
  /** Time of the message, ms since 1970. */
  at: number;
  kind: ThreadMessageKind;
  has_attachments: number;
  /** The mailbox event for this message, if there is one. */
  event_id: string | null;
}

interface ThreadTables {
  threads: ThreadRow;
  thread_messages: ThreadMessageRow;
  drafts: { thread_id: string | null };
}

export const threads = rowsOf<ThreadRow>('threads', 'thread');

export const insertThreads = bulkInsert<ThreadTables>('threads', [
  'id',
  'organization_id',
  'mailbox_id',
  'folder',
  'is_read',
  'is_starred',
  'last_activity_at',
  'snoozed_until',
  'priority',
  'message_count',
  'attachment_count',
  'from_address',
  'from_name',
  'subject',
  'preview',
  'created_at',
  'updated_at',
] satisfies (keyof ThreadRow)[]);

const selectThread = statement((db: Kysely<ThreadTables>, parameter: ParameterOf<{ id: string }>) =>
  db.selectFrom('threads').selectAll().where('id', '=', parameter('id')),
);

export async function findThread(db: Db, id: string): Promise<ThreadRow | undefined> {
  return (await selectThread(db, { id }))[0];
}

const selectThreads = statement(
  (db: Kysely<ThreadTables>, parameter: ParameterOf<{ ids: unknown }>) =>
    db
      .selectFrom('threads')
      .selectAll()
      .where(isOneOf(db, 'id', parameter('ids'))),
);

export async function findThreads(db: Db, ids: readonly string[]): Promise<ThreadRow[]> {
  return ids.length === 0 ? [] : selectThreads(db, { ids: idList(db, ids) });
}

/** The columns of a thread that a caller may change. */
export type ThreadChange = Partial<
  Omit<ThreadRow, 'id' | 'organization_id' | 'mailbox_id' | 'created_at'>
>;

export async function updateThread(db: Db, id: string, values: ThreadChange): Promise<void> {
  await tables<ThreadTables>(db).updateTable('threads').set(values).where('id', '=', id).execute();
}

/** Changes that a newer message makes to its thread. */
interface Grown {
  id: string;
  at: number;
  now: number;
  folder: Folder;
  isRead: number;
  snoozedUntil: number | null;
  attachments: number;
  fromAddress: string | null;
  fromName: string | null;
  preview: string | null;
}

const grow = change((db: Kysely<ThreadTables>, parameter: ParameterOf<Grown>) =>
  db
    .updateTable('threads')
    .set((set) => ({
      message_count: set('message_count', '+', 1),
      attachment_count: set('attachment_count', '+', parameter('attachments')),
      last_activity_at: parameter('at'),
      folder: parameter('folder'),
      is_read: parameter('isRead'),
      snoozed_until: parameter('snoozedUntil'),
      from_address: parameter('fromAddress'),
      from_name: parameter('fromName'),
      preview: parameter('preview'),
      updated_at: parameter('now'),
    }))
    .where('id', '=', parameter('id')),
);

/** Adds to a thread a message that is newer than all its others. */
export async function growThread(db: Db, grown: Grown): Promise<void> {
  await grow(db, grown);
}

/** Returns threads whose snooze ended, longest overdue first. */
export function findThreadsToWake(db: Db, now: number, limit: number): Promise<ThreadRow[]> {
  return tables<ThreadTables>(db)
    .selectFrom('threads')
    .selectAll()
    .where('snoozed_until', '<=', now)
    .orderBy('snoozed_until')
    .limit(limit)
    .execute();
}

/** Returns up to `limit` threads of a mailbox, from any folder, in no order. */
export function findThreadsOf(
  db: Db,
  mailboxId: string,
  limit: number,
): Promise<Pick<ThreadRow, 'id'>[]> {
  return tables<ThreadTables>(db)
    .selectFrom('threads')
    .select('id')
    .where('mailbox_id', '=', mailboxId)
    .limit(limit)
    .execute();
}

/** Deletes a thread; its message rows, labels, notes, references and drafts go with it. */
export async function deleteThread(db: Db, id: string): Promise<void> {
  await tables<ThreadTables>(db).deleteFrom('threads').where('id', '=', id).execute();
}

export const insertThreadMessages = bulkInsert<ThreadTables>('thread_messages', [
  'message_id',
  'thread_id',
  'at',
  'kind',
  'has_attachments',
  'event_id',
] satisfies (keyof ThreadMessageRow)[]);

const selectMessages = statement(
  (db: Kysely<ThreadTables>, parameter: ParameterOf<{ ids: unknown }>) =>
    db
      .selectFrom('thread_messages')
      .selectAll()
      .where(isOneOf(db, 'message_id', parameter('ids'))),
);

/** Returns the thread rows of these messages; messages outside of threads are left out. */
export function findThreadMessages(db: Db, ids: readonly string[]): Promise<ThreadMessageRow[]> {
  return selectMessages(db, { ids: idList(db, ids) });
}

/** A message in a thread, with the mailbox of the thread. */
export type PlacedRow = Pick<ThreadMessageRow, 'message_id' | 'thread_id' | 'kind'> &
  Pick<ThreadRow, 'mailbox_id'>;

const selectPlaced = statement<ThreadTables, { ids: unknown }, PlacedRow>((db, parameter) =>
  db
    .selectFrom('thread_messages')
    .innerJoin('threads', 'threads.id', 'thread_messages.thread_id')
    .select([
      'thread_messages.message_id',
      'thread_messages.thread_id',
      'thread_messages.kind',
      'threads.mailbox_id',
    ])
    .where(isOneOf(db, 'thread_messages.message_id', parameter('ids'))),
);

/** Returns the threads and mailboxes of these messages; messages outside of threads are left out. */
export function findPlaced(db: Db, messageIds: readonly string[]): Promise<PlacedRow[]> {
  return selectPlaced(db, { ids: idList(db, messageIds) });
}

export async function deleteThreadMessage(db: Db, messageId: string): Promise<void> {
  await tables<ThreadTables>(db)
    .deleteFrom('thread_messages')
    .where('message_id', '=', messageId)
    .execute();
}

/** Moves all messages of one thread to another. */
export async function moveThreadMessages(db: Db, from: string, to: string): Promise<void> {
  await tables<ThreadTables>(db)
    .updateTable('thread_messages')
    .set({ thread_id: to })
    .where('thread_id', '=', from)
    .execute();
}

/** Finds the ids of the oldest messages of a thread. */
export async function oldestIdsOf(db: Db, threadId: string, limit: number): Promise<string[]> {
  const rows = await tables<ThreadTables>(db)
    .selectFrom('thread_messages')
    .select('message_id')
    .where('thread_id', '=', threadId)
    .orderBy('at')
    .orderBy('message_id')
    .limit(limit)
    .execute();
  return rows.map(({ message_id }) => message_id);
}

export interface Tally {
  messages: number;
  attachments: number;
}

/** Counts the messages of a thread, one by one. */
export async function tallyThread(db: Db, id: string): Promise<Tally> {
  const { messages, attachments } = await tables<ThreadTables>(db)
    .selectFrom('thread_messages')
    .select(({ fn }) => [
      fn.countAll<number>().as('messages'),
      fn.coalesce(fn.sum<number>('has_attachments'), sql<number>`0`).as('attachments'),
    ])
    .where('thread_id', '=', id)
    .executeTakeFirstOrThrow();
  return { messages: Number(messages), attachments: Number(attachments) };
}

/** Returns the first message of a thread. */
export async function firstOf(db: Db, id: string): Promise<ThreadMessageRow | undefined> {
  return tables<ThreadTables>(db)
    .selectFrom('thread_messages')
    .selectAll()
    .where('thread_id', '=', id)
    .orderBy('at')
    .orderBy('message_id')
    .limit(1)
    .executeTakeFirst();
}

/** Returns the newest message of a thread; with `isInbound`, the newest received one. */
export async function newestOf(
  db: Db,
  id: string,
  isInbound: boolean,
): Promise<ThreadMessageRow | undefined> {
  return tables<ThreadTables>(db)
    .selectFrom('thread_messages')
    .selectAll()
    .where('thread_id', '=', id)
    .$if(isInbound, (query) => query.where('kind', '<>', 'sent'))
    .orderBy('at', 'desc')
    .orderBy('message_id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** A thread, and the number of its messages before a place in it. */
export interface Position {
  threadId: string;
  position: number;
}

const selectPosition = statement<ThreadTables, { id: string }, Position>((db, parameter) =>
  db
    .selectFrom('thread_messages as own')
    .select('own.thread_id as threadId')
    .select((select) =>
      select
        .selectFrom('thread_messages as earlier')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('earlier.thread_id', '=', 'own.thread_id')
        .where(sql<boolean>`(earlier.at, earlier.message_id) < (own.at, own.message_id)`)
        .as('position'),
    )
    .where('own.message_id', '=', parameter('id'))
    .$castTo<Position>(),
);

/** Returns the place of a message in its thread; undefined if it is in none. */
export async function findPosition(db: Db, messageId: string): Promise<Position | undefined> {
  return (await selectPosition(db, { id: messageId }))[0];
}

/** Returns whether the thread has a draft. */
export async function hasDrafts(db: Db, threadId: string): Promise<boolean> {
  return (await findDrafted(db, [threadId])).size > 0;
}

/** Returns the ids of those of these threads that have drafts. */
export async function findDrafted(db: Db, threadIds: readonly string[]): Promise<Set<string>> {
  const rows = await tables<ThreadTables>(db)
    .selectFrom('drafts')
    .select('thread_id')
    .distinct()
    .where(isOneOf(db, 'thread_id', idList(db, threadIds)))
    .execute();
  return new Set(rows.flatMap(({ thread_id }) => thread_id ?? []));
}

export async function moveDrafts(db: Db, from: string, to: string): Promise<void> {
  await tables<ThreadTables>(db)
    .updateTable('drafts')
    .set({ thread_id: to })
    .where('thread_id', '=', from)
    .execute();
}
