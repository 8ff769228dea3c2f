// SQL on `drafts` and `draft_files`, except the look-ups by thread (queries.ts). Rows only, no
// decisions. A proposed draft stores the id of the action, and cannot be sent again until that
// action ends.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Db, isOneOf, tables } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';
import type { AuthoredRow } from '../authors.ts';

export interface DraftRow extends AuthoredRow {
  id: string;
  organization_id: string;
  mailbox_id: string;
  thread_id: string | null;
  in_reply_to_message_id: string | null;
  /** `open`, or the id of the action that proposes to send the draft. */
  state: string;
  /** Bytes of the texts and files. */
  byte_count: number;
  created_at: number;
  updated_at: number;
  /** JSON with `to`, `cc` and `bcc`. */
  recipients: string;
  subject: string | null;
  text: string | null;
  html: string | null;
}

/** A file of a draft; `n` from 1. */
export interface DraftFileRow {
  draft_id: string;
  n: number;
  filename: string;
  content_type: string | null;
  content_id: string | null;
  size: number;
  /** Base64. */
  content: string;
}

interface DraftTables {
  drafts: DraftRow;
  draft_files: DraftFileRow;
}

const own = ownTables<DraftTables>();

export const drafts = own.rowsOf('drafts', 'draft');

/** A draft in a list. The texts are null if they are larger than the limit of the list. */
export type ListedDraft = Omit<DraftRow, 'organization_id'>;

/**
 * Returns drafts older than the id `before`, newest first. Texts of a draft over `mostBytes` are
 * null.
 */
export function selectDrafts(
  db: Db,
  mailboxId: string,
  before: string | undefined,
  {
    limit,
    mostBytes,
    within,
  }: { limit: number; mostBytes: number; within: RawBuilder<SqlBool> | undefined },
): Promise<ListedDraft[]> {
  const ofSmall = (column: string) =>
    sql<string | null>`case when byte_count <= ${mostBytes} then ${sql.ref(column)} end`.as(column);
  return tables<DraftTables>(db)
    .selectFrom('drafts')
    .select(['id', 'mailbox_id', 'thread_id', 'in_reply_to_message_id', 'state', 'byte_count'])
    .select(['author_kind', 'author_id', 'author_name', 'editor_kind', 'editor_id', 'editor_name'])
    .select(['created_at', 'updated_at', 'recipients', 'subject'])
    .select([ofSmall('text'), ofSmall('html')])
    .where('mailbox_id', '=', mailboxId)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .$call((query) => (within ? query.where(within) : query))
    .orderBy('id', 'desc')
    .limit(limit)
    .$castTo<ListedDraft>()
    .execute();
}

/** Returns the count and the bytes of a mailbox's drafts, read from an index. */
export async function measureDrafts(
  db: Db,
  mailboxId: string,
): Promise<{ count: number; bytes: number }> {
  const { count, bytes } = await tables<DraftTables>(db)
    .selectFrom('drafts')
    .select(({ fn }) => [
      fn.countAll<number>().as('count'),
      fn.sum<number>('byte_count').as('bytes'),
    ])
    .where('mailbox_id', '=', mailboxId)
    .executeTakeFirstOrThrow();
  return { count: Number(count), bytes: Number(bytes ?? 0) };
}

/** A file without the bytes. */
export type ListedFile = Omit<DraftFileRow, 'content'>;

/** Returns the files of these drafts in order, without their bytes. */
export function listDraftFiles(db: Db, draftIds: readonly string[]): Promise<ListedFile[]> {
  return tables<DraftTables>(db)
    .selectFrom('draft_files')
    .select(['draft_id', 'n', 'filename', 'content_type', 'content_id', 'size'])
    .where('draft_id', ...isOneOf(db, draftIds))
    .orderBy('draft_id')
    .orderBy('n')
    .execute();
}

/** Returns the files of a draft with their bytes, which are limited like the size of a mail. */
export function readDraftFiles(db: Db, draftId: string): Promise<DraftFileRow[]> {
  return tables<DraftTables>(db)
    .selectFrom('draft_files')
    .selectAll()
    .where('draft_id', '=', draftId)
    .orderBy('n')
    .execute();
}

/** Replaces all files of the draft. The caller has locked the mailbox of the draft. */
export async function replaceDraftFiles(
  db: Db,
  draftId: string,
  files: readonly DraftFileRow[],
): Promise<void> {
  const query = tables<DraftTables>(db);
  await query.deleteFrom('draft_files').where('draft_id', '=', draftId).execute();
  for (const file of files) await query.insertInto('draft_files').values(file).execute();
}

/** Id of a draft, and the version that the caller read. */
export interface DraftRead {
  id: string;
  updatedAt: number;
}

const lockDrafts = own.lockerOf('drafts');

const selectRead = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('drafts')
    .select(['id', 'updated_at', 'state'])
    .where('id', ...isOneOf(db, ids)),
);

/**
 * Locks drafts and returns their states by id. Leaves out drafts that changed since the read or no
 * longer exist.
 */
export async function holdDrafts(
  db: Db,
  read: readonly DraftRead[],
): Promise<Map<string, DraftRow['state']>> {
  if (read.length === 0) return new Map();
  const ids = read.map(({ id }) => id);
  await lockDrafts(db, ids);
  const rows = await selectRead(db, ids);
  const updatedAt = new Map(read.map((one) => [one.id, one.updatedAt]));
  const unchanged = rows.filter((row) => row.updated_at === updatedAt.get(row.id));
  return new Map(unchanged.map((row) => [row.id, row.state]));
}

/** Deletes the draft. Returns false if the draft changed since the read or is gone. */
export const endDraft = own.change(
  (db, draft: DraftRead) =>
    db.deleteFrom('drafts').where('id', '=', draft.id).where('updated_at', '=', draft.updatedAt),
  (count) => count > 0,
);

/** Deletes the drafts of a thread that answer the message `messageId`. */
export async function deleteAnswering(trx: Db, threadId: string, messageId: string): Promise<void> {
  const answering = tables<DraftTables>(trx)
    .selectFrom('drafts')
    .select('id')
    .where('thread_id', '=', threadId)
    .where('in_reply_to_message_id', '=', messageId);
  const ids = (await answering.execute()).map(({ id }) => id);
  if (ids.length === 0) return;
  await lockDrafts(trx, ids);
  await tables<DraftTables>(trx)
    .deleteFrom('drafts')
    .where('id', ...isOneOf(trx, ids))
    .execute();
}

/** Deletes the drafts of a mailbox. The caller has locked the mailbox. */
export async function deleteDraftsOf(trx: Db, mailboxId: string): Promise<void> {
  await tables<DraftTables>(trx).deleteFrom('drafts').where('mailbox_id', '=', mailboxId).execute();
}

/**
 * Marks the draft as proposed by the action. Returns false if it changed since the read or is gone.
 */
export async function proposeDraft(
  db: Db,
  { id, updatedAt }: DraftRead,
  actionId: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tables<DraftTables>(db)
    .updateTable('drafts')
    .set({ state: actionId })
    .where('id', '=', id)
    .where('updated_at', '=', updatedAt)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Erases names of authors and of editors. */
export const eraseDraftNames = own.namesIn('drafts', {
  author_id: 'author_name',
  editor_id: 'editor_name',
});
