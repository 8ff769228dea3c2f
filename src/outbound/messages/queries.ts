// All SQL on `messages` and `recipients` except lists (list-queries.ts) and retention
// (retention-queries.ts). Contents and blobs are in content-queries.ts, deliveries in
// src/outbound/deliveries/queries.ts. Rows only, no decisions. Each statement that inserts or
// deletes messages, or changes their status, also updates the message counts.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { deleteBlobs } from '../../core/blobs/queries.ts';
import { countLost } from '../../people/conversations/queries.ts';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { MessageStatus } from '../deliveries/status.ts';
import { deleteUnusedContent } from './contents/content-queries.ts';
import { dayMs, recordMessages, recordMoves, recordStatus } from './lists/counts.ts';
import { deleteTerms } from './lists/term-queries.ts';

export class MessageRow {
  id!: string;
  organization_id!: string;
  direction!: 'outbound' | 'inbound';
  status!: MessageStatus;
  subject!: string | null;
  from_email!: string;
  from_name!: string | null;
  reply_to!: string | null;
  message_id_header!: string;
  in_reply_to!: string | null;
  message_references!: string | null;
  priority!: 'high' | 'normal' | 'low' | null;
  headers!: string | null;
  content_id!: string | null;
  /** Original bytes of the whole mail, if it was received or was submitted as MIME. */
  raw_blob_id!: string | null;
  mailbox_id!: string | null;
  sender_domain_id!: string | null;
  conversation_id!: string | null;
  campaign_run_id!: string | null;
  template_id!: string | null;
  tags!: string | null;
  metadata!: string | null;
  track_opens!: number;
  track_clicks!: number;
  scheduled_for!: number | null;
  /** Id of the API key that scheduled the message; null for the operator and unscheduled mail. */
  scheduling_key_id!: string | null;
  inbound_envelope!: string | null;
  /** JSON (StoredOrigin). Null for received mail. */
  origin!: string | null;
  is_test!: number;
  delivery_count!: number;
  created_at!: number;
  updated_at!: number;
}

export class RecipientRow {
  id!: string;
  message_id!: string;
  kind!: 'to' | 'cc' | 'bcc';
  email!: string;
  name!: string | null;
  contact_id!: string | null;
  position!: number;
}

export interface MessageTables {
  messages: MessageRow;
  recipients: RecipientRow;
}

/** Statements of the tables of messages. */
export const own = ownTables<MessageTables>();

export const messageIdsEnding = own.idsEnding('messages');

const insertMessageRows = own.bulkInsert('messages', MessageRow);

export async function insertMessages(db: Db, rows: readonly MessageRow[]): Promise<void> {
  await insertMessageRows(db, rows);
  recordMessages(db, rows, 1);
}

export const insertRecipients = own.bulkInsert('recipients', RecipientRow);

export const findMessageRow = own.first((db, id: string) =>
  db.selectFrom('messages').selectAll().where('id', '=', id),
);

const shareRows = own.run((db, ids: readonly string[]) =>
  db
    .selectFrom('messages')
    .select('id')
    .where('id', ...isOneOf(db, ids))
    .orderBy('id')
    .forKeyShare(),
);

/** Locks messages against deletion only. PostgreSQL only: SQLite has a single writer. */
export async function shareMessages(db: Db, ids: readonly string[]): Promise<void> {
  if (engineOf(db) === 'postgres') await shareRows(db, ids);
}

/** Locks messages. Call it after locking their deliveries, once per transaction. */
export const lockMessages = own.lockerOf('messages');

export const findMessageRows = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('id', ...isOneOf(db, ids)),
);

/** Returns the addresses of From of these messages, by id. */
export const findFromAddresses = own.all(
  (db, ids: readonly string[]) =>
    db
      .selectFrom('messages')
      .select(['id', 'from_email'])
      .where('id', ...isOneOf(db, ids)),
  (rows) => new Map(rows.map(({ id, from_email }) => [id, from_email])),
);

/** Returns the subjects of these messages and the runs that made them, by id. */
export async function findSubjects(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, Pick<MessageRow, 'subject' | 'campaign_run_id'>>> {
  const rows = await tables<MessageTables>(db)
    .selectFrom('messages')
    .select(['id', 'subject', 'campaign_run_id'])
    .where('id', ...isOneOf(db, ids))
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns the statuses of the existing messages among these ids. */
export const findMessageStatuses = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('messages')
    .select(['id', 'status'])
    .where('id', ...isOneOf(db, ids)),
);

/** Returns the condition that the message with the id in `column` has this status. */
export function isMessageIn(column: string, status: MessageStatus): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (
    select 1 from messages where messages.id = ${sql.ref(column)} and messages.status = ${status})`;
}

const listedColumns = [
  'id',
  'organization_id',
  'direction',
  'status',
  'subject',
  'from_email',
  'from_name',
  'reply_to',
  'content_id',
  'conversation_id',
  'campaign_run_id',
  'template_id',
  'tags',
  'metadata',
  'track_opens',
  'track_clicks',
  'scheduled_for',
  'origin',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof MessageRow)[];

/** A message in lists: without header fields. */
export type ListedMessageRow = Pick<MessageRow, (typeof listedColumns)[number]>;

export const findListedMessages = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('messages')
    .select(listedColumns)
    .where('id', ...isOneOf(db, ids)),
);

const countedColumns = [
  'id',
  'organization_id',
  'from_email',
  'template_id',
  'campaign_run_id',
] as const satisfies readonly (keyof MessageRow)[];

/** Columns by which a message is counted. */
export type CountedMessageRow = Pick<MessageRow, (typeof countedColumns)[number]>;

/** Finds the columns by which messages are counted. Hot: runs at every end of an attempt. */
export const findCountedMessages = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('messages')
    .select(countedColumns)
    .where('id', ...isOneOf(db, ids)),
);

export type TrackedMessageRow = Pick<MessageRow, (typeof trackedColumns)[number]>;

const trackedColumns = [
  ...countedColumns,
  'content_id',
  'track_opens',
  'track_clicks',
  'delivery_count',
  'created_at',
] as const satisfies readonly (keyof MessageRow)[];

/** Finds the columns that opens and clicks need. Hot. */
export const findEngagedMessages = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('messages')
    .select(trackedColumns)
    .where('id', ...isOneOf(db, ids)),
);

/** Selects from these messages the messages that track opens or clicks. */
export const findTrackedMessages = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('messages')
    .select(trackedColumns)
    .where('id', ...isOneOf(db, ids))
    .where((where) => where(where('track_opens', '+', where.ref('track_clicks')), '>', sql.lit(0))),
);

/** Finds the recipients of these messages, by their position in the message. */
export const findRecipients = own.all((db, messageIds: readonly string[]) =>
  db
    .selectFrom('recipients')
    .selectAll()
    .where('message_id', ...isOneOf(db, messageIds))
    .orderBy('position'),
);

/** Day of `created_at`, as the counts define it. */
const createdDay = sql<number>`created_at - created_at % ${sql.lit(dayMs)}`;

const selectDays = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('messages')
    .select(['organization_id', 'direction', 'status'])
    .select([createdDay.as('day'), ({ fn }) => fn.countAll<number>().as('count')])
    .where('id', ...isOneOf(db, ids))
    .groupBy(['organization_id', 'direction', 'status', createdDay]),
);

const setStatus = own.run((db, ids: readonly string[], status: MessageStatus, at: number) =>
  db
    .updateTable('messages')
    .set({ status, updated_at: at })
    .where('id', ...isOneOf(db, ids)),
);

/**
 * Sets a status on PostgreSQL, and locks the rows in the order of ids. Returns the number of
 * messages by day and previous status.
 */
const setStatusOfLocked = own.all((db, ids: readonly string[], status: MessageStatus, at: number) =>
  db
    .with('before', (q) =>
      q
        .selectFrom('messages')
        .select(['id', 'organization_id', 'direction', 'status', 'created_at'])
        .where('id', ...isOneOf(db, ids))
        .orderBy('id')
        .forUpdate(),
    )
    .with('changed', (q) =>
      q
        .updateTable('messages')
        .from('before')
        .set({ status, updated_at: at })
        .whereRef('messages.id', '=', 'before.id'),
    )
    .selectFrom('before')
    .select(['organization_id', 'direction', 'status'])
    .select([createdDay.as('day'), ({ fn }) => fn.countAll<number>().as('count')])
    .groupBy(['organization_id', 'direction', 'status', createdDay]),
);

/** Moves all of the messages to a status. */
export async function updateMessageStatus(
  db: Db,
  ids: readonly string[],
  status: MessageStatus,
  at: number,
): Promise<void> {
  if (engineOf(db) === 'postgres') {
    recordMoves(db, await setStatusOfLocked(db, ids, status, at), status);
    return;
  }
  recordMoves(db, await selectDays(db, ids), status);
  await setStatus(db, ids, status, at);
}

/** Statuses before the first attempt. Nearly all messages are in the first status. */
const unstarted = ['pending', 'queued', 'scheduled'] as const;

type Started = Pick<MessageRow, 'id' | 'organization_id' | 'direction' | 'status' | 'created_at'>;
const startThose = own.all((db, ids: readonly string[], status: MessageStatus, at: number) =>
  db
    .updateTable('messages')
    .set({ status: 'processing', updated_at: at })
    .where('id', ...isOneOf(db, ids))
    .where('status', '=', status)
    .returning(['id', 'organization_id', 'direction', 'created_at']),
);

/** Moves unstarted messages to `processing`, with locks as in `setStatusOfLocked`. */
const startLocked = own.all((db, ids: readonly string[], at: number) =>
  db
    .with('before', (q) =>
      q
        .selectFrom('messages')
        .select(['id', 'organization_id', 'direction', 'status', 'created_at'])
        .where('id', ...isOneOf(db, ids))
        .where('status', 'in', unstarted)
        .orderBy('id')
        .forUpdate(),
    )
    .with('changed', (q) =>
      q
        .updateTable('messages')
        .from('before')
        .set({ status: 'processing', updated_at: at })
        .whereRef('messages.id', '=', 'before.id'),
    )
    .selectFrom('before')
    .selectAll(),
);

/** Marks messages as `processing` at their first attempt. Returns the messages that changed. */
export async function markProcessing(
  db: Db,
  ids: readonly string[],
  at: number,
): Promise<Pick<MessageRow, 'id' | 'organization_id'>[]> {
  const started: Started[] = [];
  if (engineOf(db) === 'postgres') started.push(...(await startLocked(db, ids, at)));
  else {
    for (const status of unstarted) {
      if (started.length === ids.length) break;
      for (const row of await startThose(db, ids, status, at)) {
        started.push({ ...row, status });
      }
    }
  }
  recordStatus(db, started, 'processing');
  return started;
}

/**
 * Deletes the message with all dependent rows, and content and blobs without a further user.
 * Returns false if a concurrent transaction has deleted the message already.
 */
export async function deleteMessageRow(db: Db, row: MessageRow): Promise<boolean> {
  const q = tables<MessageTables>(db);
  await lockMessages(db, [row.id]);
  await deleteTerms(db, row.id);
  const deleted = await q
    .deleteFrom('messages')
    .where('id', '=', row.id)
    .returning(['organization_id', 'direction', 'status', 'created_at', 'conversation_id'])
    .executeTakeFirst();
  if (!deleted) return false;
  if (deleted.conversation_id !== null) await countLost(db, deleted.conversation_id, 1);
  recordMessages(db, [deleted], -1);
  if (row.raw_blob_id) await deleteBlobs(db, [row.raw_blob_id]);
  if (row.content_id) await deleteUnusedContent(db, row.content_id);
  return true;
}

/** Returns up to `limit` ids of messages received in a mailbox or sent from it, oldest first. */
export async function findMailboxMessages(
  db: Db,
  mailboxId: string,
  limit: number,
): Promise<string[]> {
  const rows = await tables<MessageTables>(db)
    .selectFrom('messages')
    .select('id')
    .where('mailbox_id', '=', mailboxId)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
