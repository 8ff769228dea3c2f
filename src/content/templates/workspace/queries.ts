// All SQL on `template_workspaces` and `workspace_answers`. Reads and writes rows, decides nothing.
import { type Db, tables } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';

export interface WorkspaceRow {
  template_id: string;
  organization_id: string;
  revision: number;
  /** Head of main. */
  base_commit: string;
  /** Newest commit of a bundle that awaits a merge; null if no bundle awaits a merge. */
  pending_head: string | null;
  /** JSON: staged files by path; null deletes a file. */
  overlay: string;
  /** JSON of Conflict[]. */
  conflicts: string;
  /** JSON of Reference[] (view.ts): the sources of the staged files. */
  provenance: string;
  created_at: number;
  updated_at: number;
  /** JSON of Author (view.ts): the author of the first commit. */
  created_by: string;
  updated_by: string;
}

interface AnswerRow {
  template_id: string;
  idempotency_key: string;
  organization_id: string;
  fingerprint: string;
  /** Answer to the request, as compressed JSON. */
  answer: Buffer;
  created_at: number;
}

interface WorkspaceTables {
  template_workspaces: WorkspaceRow;
  workspace_answers: AnswerRow;
}

const own = ownTables<WorkspaceTables>();

export const findWorkspace = own.first((db, templateId: string) =>
  db.selectFrom('template_workspaces').selectAll().where('template_id', '=', templateId),
);

export async function insertWorkspace(trx: Db, row: WorkspaceRow): Promise<void> {
  await tables<WorkspaceTables>(trx).insertInto('template_workspaces').values(row).execute();
}

/**
 * Replaces a workspace that is still at the revision before `row.revision`. Returns false
 * otherwise.
 */
export async function replaceWorkspace(trx: Db, row: WorkspaceRow): Promise<boolean> {
  const { template_id, organization_id: _owner, created_at: _at, created_by: _by, ...rest } = row;
  const { numUpdatedRows } = await tables<WorkspaceTables>(trx)
    .updateTable('template_workspaces')
    .set(rest)
    .where('template_id', '=', template_id)
    .where('revision', '=', row.revision - 1)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export const findAnswer = own.first((db, templateId: string, key: string) =>
  db
    .selectFrom('workspace_answers')
    .select(['fingerprint', 'answer'])
    .where('template_id', '=', templateId)
    .where('idempotency_key', '=', key),
);

/** Inserts an answer; returns false if the key already has an answer. */
export async function insertAnswer(trx: Db, row: AnswerRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tables<WorkspaceTables>(trx)
    .insertInto('workspace_answers')
    .values(row)
    .onConflict((conflict) => conflict.columns(['template_id', 'idempotency_key']).doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Deletes up to `limit` answers from before this time; returns their count. */
export async function deleteOldAnswers(trx: Db, before: number, limit: number): Promise<number> {
  const db = tables<WorkspaceTables>(trx);
  const old = await db
    .selectFrom('workspace_answers')
    .select(['template_id', 'idempotency_key'])
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(limit)
    .execute();
  for (const { template_id, idempotency_key } of old) {
    await db
      .deleteFrom('workspace_answers')
      .where('template_id', '=', template_id)
      .where('idempotency_key', '=', idempotency_key)
      .execute();
  }
  return old.length;
}
