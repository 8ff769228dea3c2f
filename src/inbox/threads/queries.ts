// All SQL on `threads` and `thread_messages`, except the lists (list-queries.ts). Rows only, no
// decisions. Look-ups by key are in reference-queries.ts. On PostgreSQL a transaction that changes
// which messages a thread has locks the row of the mailbox first.
import { sql } from 'kysely';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { Folder } from './folders.ts';

/** Kind of a message in a thread: `sent` is from this mailbox, the rest was received. */
export type ThreadMessageKind = 'person' | 'auto-reply' | 'list' | 'bounce' | 'sent';

export class ThreadRow {
  id!: string;
  organization_id!: string;
  mailbox_id!: string;
  folder!: Folder;
  is_read!: number;
  is_starred!: number;
  /** Time of the last activity. Never decreases, so that a walk over a list meets a thread once. */
  last_activity_at!: number;
  snoozed_until!: number | null;
  priority!: 'high' | 'normal' | 'low';
  message_count!: number;
  /** Number of messages with attachments. */
  attachment_count!: number;
  from_address!: string | null;
  from_name!: string | null;
  subject!: string | null;
  preview!: string | null;
  created_at!: number;
  updated_at!: number;
}

export class ThreadMessageRow {
  message_id!: string;
  thread_id!: string;
  /** Time of the message, ms since 1970. */
  at!: number;
  kind!: ThreadMessageKind;
  has_attachments!: number;
  /** Id of the mailbox event for this message; null without an event. */
  event_id!: string | null;
}

interface ThreadTables {
  threads: ThreadRow;
  thread_messages: ThreadMessageRow;
  drafts: { thread_id: string | null };
}

const own = ownTables<ThreadTables>();

export const threads = own.rowsOf('threads', 'thread');

export const insertThreads = own.bulkInsert('threads', ThreadRow);

export const findThread = own.first((db, id: string) =>
  db.selectFrom('threads').selectAll().where('id', '=', id),
);

const selectThreads = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('threads')
    .selectAll()
    .where('id', ...isOneOf(db, ids)),
);

export async function findThreads(db: Db, ids: readonly string[]): Promise<ThreadRow[]> {
  return ids.length === 0 ? [] : selectThreads(db, ids);
}

/** The columns of a thread that a caller may change. */
export type ThreadChange = Partial<
  Omit<ThreadRow, 'id' | 'organization_id' | 'mailbox_id' | 'created_at'>
>;

export async function updateThread(db: Db, id: string, values: ThreadChange): Promise<void> {
  await tables<ThreadTables>(db).updateTable('threads').set(values).where('id', '=', id).execute();
}

/** Changes that a newer message makes to the thread. */
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

/** Adds a message at the end of a thread. */
export const growThread = own.run((db, grown: Grown) =>
  db
    .updateTable('threads')
    .set((set) => ({
      message_count: set('message_count', '+', 1),
      attachment_count: set('attachment_count', '+', grown.attachments),
      last_activity_at: grown.at,
      folder: grown.folder,
      is_read: grown.isRead,
      snoozed_until: grown.snoozedUntil,
      from_address: grown.fromAddress,
      from_name: grown.fromName,
      preview: grown.preview,
      updated_at: grown.now,
    }))
    .where('id', '=', grown.id),
);

/** Returns the next end of a snooze; null without a snooze. Ms since 1970. */
export async function nextWakeAt(db: Db): Promise<number | null> {
  const row = await tables<ThreadTables>(db)
    .selectFrom('threads')
    .select('snoozed_until')
    .where('snoozed_until', 'is not', null)
    .orderBy('snoozed_until')
    .limit(1)
    .executeTakeFirst();
  return row?.snoozed_until ?? null;
}

/** Returns threads with an ended snooze, longest overdue first. */
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

/** Deletes a thread; foreign keys delete message rows, labels, notes, references and drafts. */
export async function deleteThread(db: Db, id: string): Promise<void> {
  await tables<ThreadTables>(db).deleteFrom('threads').where('id', '=', id).execute();
}

export const insertThreadMessages = own.bulkInsert('thread_messages', ThreadMessageRow);

/** Returns the thread rows of these messages; messages outside of threads are left out. */
export const findThreadMessages = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('thread_messages')
    .selectAll()
    .where('message_id', ...isOneOf(db, ids)),
);

/** A message in a thread, with the mailbox of the thread. */
export type PlacedRow = Pick<ThreadMessageRow, 'message_id' | 'thread_id' | 'kind'> &
  Pick<ThreadRow, 'mailbox_id'>;

/**
 * Returns the threads and mailboxes of these messages; messages outside of threads are left out.
 */
export const findPlaced = own.all((db, messageIds: readonly string[]) =>
  db
    .selectFrom('thread_messages')
    .innerJoin('threads', 'threads.id', 'thread_messages.thread_id')
    .select([
      'thread_messages.message_id',
      'thread_messages.thread_id',
      'thread_messages.kind',
      'threads.mailbox_id',
    ])
    .where('thread_messages.message_id', ...isOneOf(db, messageIds)),
);

export async function deleteThreadMessage(db: Db, messageId: string): Promise<void> {
  await tables<ThreadTables>(db)
    .deleteFrom('thread_messages')
    .where('message_id', '=', messageId)
    .execute();
}

/** Moves all messages of a thread to the thread `to`. */
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

/** Counts the message rows of a thread. */
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

/** Returns the newest message of a thread; with `isInbound`, the newest received message. */
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

/** Position of a message: the id of the thread, and the number of earlier messages in it. */
export interface Position {
  threadId: string;
  position: number;
}

/** Returns the position of a message in the thread; undefined without a thread. */
export const findPosition = own.first((db, messageId: string) =>
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
    .where('own.message_id', '=', messageId)
    .$castTo<Position>(),
);

export async function hasDrafts(db: Db, threadId: string): Promise<boolean> {
  return (await findDrafted(db, [threadId])).size > 0;
}

/** Returns the ids of the threads in `threadIds` that have drafts. */
export async function findDrafted(db: Db, threadIds: readonly string[]): Promise<Set<string>> {
  const rows = await tables<ThreadTables>(db)
    .selectFrom('drafts')
    .select('thread_id')
    .distinct()
    .where('thread_id', ...isOneOf(db, threadIds))
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
