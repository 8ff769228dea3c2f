// All SQL on `messages` and `recipients` except lists (list-queries.ts). Contents and blobs are in
// content-queries.ts, deliveries in src/outbound/deliveries/queries.ts. Rows only, no decisions. Each statement that
// adds, deletes or moves messages also notes it for the counts.
import { type Kysely, sql } from 'kysely';
import { countLost } from '../../people/conversations/queries.ts';
import {
  bulkInsert,
  type Db,
  engineOf,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
  tables,
} from '../../platform/store/db.ts';
import { lockerOf } from '../../platform/store/locks.ts';
import type { MessageStatus } from '../deliveries/status.ts';
import { deleteBlob, deleteUnusedContent } from './content-queries.ts';
import type { DayCountRow } from './count-queries.ts';
import { dayMs, noteMessages, noteMoves, noteStatus } from './counts.ts';
import { deleteTerms } from './term-queries.ts';

export interface MessageRow {
  id: string;
  organization_id: string;
  direction: 'outbound' | 'inbound';
  status: MessageStatus;
  subject: string | null;
  from_email: string;
  from_name: string | null;
  reply_to: string | null;
  message_id_header: string;
  in_reply_to: string | null;
  message_references: string | null;
  priority: 'high' | 'normal' | 'low' | null;
  headers: string | null;
  content_id: string | null;
  /** The whole mail in its original bytes: for received mail, and for mail handed in as MIME. */
  raw_blob_id: string | null;
  mailbox_id: string | null;
  sender_domain_id: string | null;
  conversation_id: string | null;
  campaign_run_id: string | null;
  template_id: string | null;
  tags: string | null;
  metadata: string | null;
  track_opens: number;
  track_clicks: number;
  scheduled_for: number | null;
  /** Key that scheduled the message. Null for the operator. */
  scheduling_key_id: string | null;
  inbound_envelope: string | null;
  /** JSON (MessageOrigin). Null for received mail. */
  origin: string | null;
  is_test: number;
  delivery_count: number;
  created_at: number;
  updated_at: number;
}

export interface RecipientRow {
  id: string;
  message_id: string;
  kind: 'to' | 'cc' | 'bcc';
  email: string;
  name: string | null;
  contact_id: string | null;
  position: number;
}

interface MessageTables {
  messages: MessageRow;
  recipients: RecipientRow;
}

const messageColumns = [
  'id',
  'organization_id',
  'direction',
  'status',
  'subject',
  'from_email',
  'from_name',
  'reply_to',
  'message_id_header',
  'in_reply_to',
  'message_references',
  'priority',
  'headers',
  'content_id',
  'raw_blob_id',
  'mailbox_id',
  'sender_domain_id',
  'conversation_id',
  'campaign_run_id',
  'template_id',
  'tags',
  'metadata',
  'track_opens',
  'track_clicks',
  'scheduled_for',
  'scheduling_key_id',
  'inbound_envelope',
  'origin',
  'is_test',
  'delivery_count',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof MessageRow)[];

const insertMessageRows = bulkInsert<MessageTables>('messages', messageColumns);

export async function insertMessages(db: Db, rows: readonly MessageRow[]): Promise<void> {
  await insertMessageRows(db, rows);
  noteMessages(db, rows, 1);
}
export const insertRecipients = bulkInsert<MessageTables>('recipients', [
  'id',
  'message_id',
  'kind',
  'email',
  'name',
  'contact_id',
  'position',
]);

const selectMessage = statement(
  (db: Kysely<MessageTables>, parameter: ParameterOf<{ id: string }>) =>
    db.selectFrom('messages').selectAll().where('id', '=', parameter('id')),
);

export async function findMessageRow(db: Db, id: string): Promise<MessageRow | undefined> {
  return (await selectMessage(db, { id }))[0];
}

type IdList = { ids: unknown };

/** Statuses without another attempt. */
const ended = ['sent', 'delivered', 'read', 'failed', 'bounced', 'complained'] as const;

/** Returns the first `limit` ids of ended messages between `after` and `before`. */
export async function findEndedBetween(
  db: Db,
  { after, before, limit }: { after: string; before: string; limit: number },
): Promise<string[]> {
  const rows = await tables<MessageTables>(db)
    .selectFrom('messages')
    .select('id')
    .where('id', '>', after)
    .where('id', '<', before)
    .where('status', 'in', ended)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

const shareRows = statement((db: Kysely<MessageTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('messages')
    .select('id')
    .where(isOneOf(db, 'id', parameter('ids')))
    .orderBy('id')
    .forKeyShare(),
);

/** Locks the rows against deletion only. */
export async function shareMessages(db: Db, ids: readonly string[]): Promise<void> {
  if (engineOf(db) === 'postgres') await shareRows(db, { ids: idList(db, ids) });
}

/** Locks the rows. Call it after locking their deliveries, once per transaction. */
export const lockMessages = lockerOf<MessageTables>('messages');

const selectMessages = statement((db: Kysely<MessageTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where(isOneOf(db, 'id', parameter('ids'))),
);

export function findMessageRows(db: Db, ids: readonly string[]): Promise<MessageRow[]> {
  return selectMessages(db, { ids: idList(db, ids) });
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

/** A message in lists: without its header fields. */
export type ListedMessageRow = Pick<MessageRow, (typeof listedColumns)[number]>;

const selectListed = statement((db: Kysely<MessageTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('messages')
    .select(listedColumns)
    .where(isOneOf(db, 'id', parameter('ids'))),
);

export function findListedMessages(db: Db, ids: readonly string[]): Promise<ListedMessageRow[]> {
  return selectListed(db, { ids: idList(db, ids) });
}

export type TrackedMessageRow = Pick<MessageRow, (typeof trackedColumns)[number]>;

const trackedColumns = [
  'id',
  'organization_id',
  'content_id',
  'track_opens',
  'track_clicks',
  'delivery_count',
  'created_at',
] as const satisfies readonly (keyof MessageRow)[];

const selectEngaged = statement((db: Kysely<MessageTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('messages')
    .select(trackedColumns)
    .where(isOneOf(db, 'id', parameter('ids'))),
);

/** Hot. Finds the columns that opens and clicks need. */
export function findEngagedMessages(db: Db, ids: readonly string[]): Promise<TrackedMessageRow[]> {
  return selectEngaged(db, { ids: idList(db, ids) });
}

const selectTracked = statement((db: Kysely<MessageTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('messages')
    .select(trackedColumns)
    .where(isOneOf(db, 'id', parameter('ids')))
    .where((where) => where(where('track_opens', '+', where.ref('track_clicks')), '>', sql.lit(0))),
);

/** Finds the messages that track opens or clicks. */
export function findTrackedMessages(db: Db, ids: readonly string[]): Promise<TrackedMessageRow[]> {
  return selectTracked(db, { ids: idList(db, ids) });
}

const selectRecipients = statement((db: Kysely<MessageTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('recipients')
    .selectAll()
    .where(isOneOf(db, 'message_id', parameter('ids')))
    .orderBy('position'),
);

/** Finds the recipients of these messages, in the order of each message. */
export function findRecipients(db: Db, messageIds: readonly string[]): Promise<RecipientRow[]> {
  return selectRecipients(db, { ids: idList(db, messageIds) });
}

interface StatusChange extends IdList {
  status: MessageStatus;
  at: number;
}

/** Day of `created_at`, as the counts define it. */
const createdDay = sql<number>`created_at - created_at % ${sql.lit(dayMs)}`;

const selectDays = statement((db: Kysely<MessageTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('messages')
    .select(['organization_id', 'direction', 'status'])
    .select([createdDay.as('day'), ({ fn }) => fn.countAll<number>().as('count')])
    .where(isOneOf(db, 'id', parameter('ids')))
    .groupBy(['organization_id', 'direction', 'status', createdDay]),
);

const setStatus = statement((db: Kysely<MessageTables>, parameter: ParameterOf<StatusChange>) =>
  db
    .updateTable('messages')
    .set({ status: parameter('status'), updated_at: parameter('at') })
    .where(isOneOf(db, 'id', parameter('ids'))),
);

/** Sets a status on PostgreSQL. The rows are locked as they are read, in the order of their ids. */
const setStatusOfLocked = statement<MessageTables, StatusChange, DayCountRow>((db, parameter) =>
  db
    .with('before', (q) =>
      q
        .selectFrom('messages')
        .select(['id', 'organization_id', 'direction', 'status', 'created_at'])
        .where(isOneOf(db, 'id', parameter('ids')))
        .orderBy('id')
        .forUpdate(),
    )
    .with('changed', (q) =>
      q
        .updateTable('messages')
        .from('before')
        .set({ status: parameter('status'), updated_at: parameter('at') })
        .whereRef('messages.id', '=', 'before.id'),
    )
    .selectFrom('before')
    .select(['organization_id', 'direction', 'status'])
    .select([createdDay.as('day'), ({ fn }) => fn.countAll<number>().as('count')])
    .groupBy(['organization_id', 'direction', 'status', createdDay]),
);

/** Moves all of the messages to one status. */
export async function updateMessageStatus(
  db: Db,
  ids: readonly string[],
  status: MessageStatus,
  at: number,
): Promise<void> {
  const change = { ids: idList(db, ids), status, at };
  if (engineOf(db) === 'postgres') {
    noteMoves(db, await setStatusOfLocked(db, change), status);
    return;
  }
  noteMoves(db, await selectDays(db, change), status);
  await setStatus(db, change);
}

/** Statuses before the first attempt. Nearly all messages are in the first one. */
const unstarted = ['pending', 'queued', 'scheduled'] as const;

type Started = Pick<MessageRow, 'id' | 'organization_id' | 'direction' | 'status' | 'created_at'>;
type Start = IdList & { status: MessageStatus; at: number };

const startThose = statement((db: Kysely<MessageTables>, parameter: ParameterOf<Start>) =>
  db
    .updateTable('messages')
    .set({ status: 'processing', updated_at: parameter('at') })
    .where(isOneOf(db, 'id', parameter('ids')))
    .where('status', '=', parameter('status'))
    .returning(['id', 'organization_id', 'direction', 'created_at']),
);

/** Moves unstarted messages to `processing`, with locks as in `setStatusOfLocked`. */
const startLocked = statement<MessageTables, IdList & { at: number }, Started>((db, parameter) =>
  db
    .with('before', (q) =>
      q
        .selectFrom('messages')
        .select(['id', 'organization_id', 'direction', 'status', 'created_at'])
        .where(isOneOf(db, 'id', parameter('ids')))
        .where('status', 'in', unstarted)
        .orderBy('id')
        .forUpdate(),
    )
    .with('changed', (q) =>
      q
        .updateTable('messages')
        .from('before')
        .set({ status: 'processing', updated_at: parameter('at') })
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
  const packed = idList(db, ids);
  if (engineOf(db) === 'postgres') started.push(...(await startLocked(db, { ids: packed, at })));
  else {
    for (const status of unstarted) {
      if (started.length === ids.length) break;
      for (const row of await startThose(db, { ids: packed, status, at })) {
        started.push({ ...row, status });
      }
    }
  }
  noteStatus(db, started, 'processing');
  return started;
}

/**
 * Deletes the message with all dependent rows, and content and blobs without another user. Returns false if
 * another transaction has deleted it already.
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
  noteMessages(db, [deleted], -1);
  if (row.raw_blob_id) await deleteBlob(db, row.raw_blob_id);
  if (row.content_id) await deleteUnusedContent(db, row.content_id);
  return true;
}

/** Returns the oldest ids of messages received in a mailbox or sent from it. */
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

/** Removes a contact from up to `most` recipients and returns their number. The addresses stay. */
export async function forgetRecipients(trx: Db, contactId: string, most: number): Promise<number> {
  const { rows } = await sql<{ message_id: string; position: number }>`
    select message_id, position from recipients where contact_id = ${contactId}
    order by message_id, position limit ${most}`.execute(trx);
  for (const { message_id, position } of rows) {
    await tables<MessageTables>(trx)
      .updateTable('recipients')
      .set({ name: null, contact_id: null })
      .where('message_id', '=', message_id)
      .where('position', '=', position)
      .execute();
  }
  return rows.length;
}
