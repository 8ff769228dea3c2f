// All SQL on `drafts`, but for those of a thread (queries.ts). Rows only, no decisions. A draft
// that is proposed keeps the id of its action: it waits as long as that does.
import { type Db, tables } from '../store/db.ts';
import { rowsOf } from '../store/rows.ts';

export interface DraftRow {
  id: string;
  organization_id: string;
  mailbox_id: string;
  thread_id: string | null;
  in_reply_to_message_id: string | null;
  /** JSON. */
  content: string;
  /** `open`, or the id of the action that proposes to send it. */
  state: string;
  created_at: number;
  updated_at: number;
}

interface DraftTables {
  drafts: DraftRow;
}

export const drafts = rowsOf<DraftRow>('drafts', 'draft');

/** Newest first, those before the id `before`. */
export function selectDrafts(
  db: Db,
  mailboxId: string,
  before: string | undefined,
  limit: number,
): Promise<DraftRow[]> {
  return tables<DraftTables>(db)
    .selectFrom('drafts')
    .selectAll()
    .where('mailbox_id', '=', mailboxId)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** A draft as it was read. */
export interface DraftRead {
  id: string;
  updatedAt: number;
}

/** False where it was changed since, or is gone. */
export async function endDraft(db: Db, { id, updatedAt }: DraftRead): Promise<boolean> {
  const { numDeletedRows } = await tables<DraftTables>(db)
    .deleteFrom('drafts')
    .where('id', '=', id)
    .where('updated_at', '=', updatedAt)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** As `endDraft`, where it waits for the action. */
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
