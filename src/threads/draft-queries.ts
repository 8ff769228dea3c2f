// SQL on `drafts`, but for what threads ask of theirs (queries.ts). Rows only, no decisions. A draft that is
// proposed keeps the id of its action: it waits as long as that does.
import type { Kysely } from 'kysely';
import {
  change,
  type Db,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
  tables,
} from '../store/db.ts';
import { lockerOf } from '../store/locks.ts';
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

const lockDrafts = lockerOf<DraftTables>('drafts');

const selectRead = statement((db: Kysely<DraftTables>, parameter: ParameterOf<{ ids: unknown }>) =>
  db
    .selectFrom('drafts')
    .select(['id', 'updated_at', 'state'])
    .where(isOneOf(db, 'id', parameter('ids'))),
);

/**
 * Holds drafts; the states of those that are as they were read, by id. Others were changed since, or are gone.
 */
export async function holdDrafts(
  db: Db,
  read: readonly DraftRead[],
): Promise<Map<string, DraftRow['state']>> {
  if (read.length === 0) return new Map();
  const ids = read.map(({ id }) => id);
  await lockDrafts(db, ids);
  const rows = await selectRead(db, { ids: idList(db, ids) });
  const updatedAt = new Map(read.map((one) => [one.id, one.updatedAt]));
  const unchanged = rows.filter((row) => row.updated_at === updatedAt.get(row.id));
  return new Map(unchanged.map((row) => [row.id, row.state]));
}

const deleteRead = change((db: Kysely<DraftTables>, parameter: ParameterOf<DraftRead>) =>
  db
    .deleteFrom('drafts')
    .where('id', '=', parameter('id'))
    .where('updated_at', '=', parameter('updatedAt')),
);

/** False where it was changed since, or is gone. */
export async function endDraft(db: Db, draft: DraftRead): Promise<boolean> {
  return (await deleteRead(db, draft)) > 0;
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
