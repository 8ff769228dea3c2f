// Changes of a workspace. Each change is prepared outside of the transaction, from the revision
// that the caller read. The transaction then replaces exactly that revision, or changes nothing. So
// two changes never mix, on one daemon or on several.
import { hash } from 'node:crypto';
import { claimKeyOf } from '../../../access/keys/constraints.ts';
import { noticeReplay } from '../../../core/api/idempotency.ts';
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import type { AuditAction } from '../../../history/audit/schema.ts';
import { record } from '../../../history/events/record.ts';
import { ConflictError, InternalError, ResourceNotFoundError } from '../../../platform/errors.ts';
import { sliceTurns } from '../../../platform/runtime/fairness/loop-turns.ts';
import { type Db, fromJson } from '../../../platform/store/db.ts';
import { deflated, inflated } from '../../git/deflate.ts';
import { filesAt, findHead, type Growth, growMain, type Head } from '../../git/repository.ts';
import type { TemplateFiles } from '../../rendering/compiled.ts';
import { lockTemplates } from '../queries.ts';
import type { Conflict, Overlay } from './draft.ts';
import {
  findAnswer,
  findWorkspace,
  insertAnswer,
  replaceWorkspace,
  type WorkspaceRow,
} from './queries.ts';
import { type Author, authorOf, contentOf, type Reference } from './view.ts';

/** Most bytes of a stored answer: files of 5 MB, some of them twice, with JSON escapes. */
const mostAnswerBytes = 64 * 1024 * 1024;

/** A workspace as it was read before a change. */
export interface Workspace {
  row: WorkspaceRow;
  /** Files of the head of main. */
  base: TemplateFiles;
  overlay: Overlay;
  conflicts: readonly Conflict[];
  references: readonly Reference[];
}

/** A prepared change: the new content of the workspace, and the commits to store. */
export interface Step {
  /** Staged files after the change. Each part of the content that is left out stays the same. */
  overlay?: Overlay;
  conflicts?: readonly Conflict[];
  references?: readonly Reference[];
  pendingHead?: string | null;
  /** Commits to add to main. */
  growth?: Growth;
  /** Files of the head of main after it grows. */
  base?: TemplateFiles;
  action: AuditAction;
  details?: Readonly<Record<string, unknown>>;
  /** Writes further rows of the change, after the workspace and before the growth. */
  write?(trx: Db): Promise<void>;
}

/** The expected revision and the idempotency key of a request. */
export interface Guard {
  expectedRevision: string;
  idempotencyKey: string;
}

/** Returns a workspace of the organization. @throws ResourceNotFoundError */
export async function getWorkspaceRow(
  db: Db,
  organizationId: string,
  templateId: string,
): Promise<WorkspaceRow> {
  const row = await findWorkspace(db, templateId);
  if (row?.organization_id === organizationId) return row;
  throw new ResourceNotFoundError('template', templateId);
}

/**
 * Runs a read of several statements. If the read fails and the template no longer exists, it was
 * deleted meanwhile.
 * @throws ResourceNotFoundError for a deleted template; else the error of the read
 */
export async function unlessDeleted<T>(
  db: Db,
  templateId: string,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (await findWorkspace(db, templateId)) throw error;
    throw new ResourceNotFoundError('template', templateId);
  }
}

/** Returns a workspace of the organization with the content. @throws ResourceNotFoundError */
export async function openWorkspace(
  db: Db,
  organizationId: string,
  templateId: string,
): Promise<Workspace> {
  const row = await getWorkspaceRow(db, organizationId, templateId);
  const base = await unlessDeleted(db, templateId, async () => {
    const files = await filesAt(db, templateId, row.base_commit);
    if (files) return files;
    throw new InternalError(`The repository of ${templateId} is missing`, 'store');
  });
  return { row, base, ...contentOf(row) };
}

function stale(expected: string, present: number): ConflictError {
  return new ConflictError(
    'workspace',
    `The workspace is at revision ${present}, not ${expected}: read it and repeat the change`,
  );
}

/** Returns the row of the workspace after a step, with the next revision. */
export function nextRow(
  workspace: Workspace,
  step: Step,
  author: Author,
  now: number,
): WorkspaceRow {
  const { row } = workspace;
  const { overlay, conflicts, references, pendingHead, growth } = { ...workspace, ...step };
  return {
    ...row,
    revision: row.revision + 1,
    base_commit: growth?.commits.at(-1) ?? row.base_commit,
    pending_head: pendingHead === undefined ? row.pending_head : pendingHead,
    overlay: JSON.stringify(overlay),
    conflicts: JSON.stringify(conflicts),
    provenance: JSON.stringify(references),
    updated_at: now,
    updated_by: JSON.stringify(author),
  };
}

/** Stores a step in a transaction; returns false if the revision of the workspace has changed. */
export async function commitStep(
  app: App,
  caller: Caller,
  next: WorkspaceRow,
  step: Step,
  alsoWrite?: (trx: Db) => Promise<void>,
): Promise<boolean> {
  const { template_id: templateId, organization_id: organizationId } = next;
  const { action, details = {}, growth } = step;
  return app.store.write(async (trx) => {
    // Locks in the order of a deletion: a different order would deadlock on PostgreSQL.
    await lockTemplates(trx, [templateId]);
    if (!(await replaceWorkspace(trx, next))) return false;
    await step.write?.(trx);
    if (growth) {
      const head = (await findHead(trx, templateId)) as Head;
      const isGrown = await growMain(trx, { id: templateId, organizationId }, head, growth);
      if (!isGrown) throw new InternalError(`The head of ${templateId} moved`, 'store');
    }
    await record(app, trx, caller, { subject: templateId, action, details });
    await alsoWrite?.(trx);
    return true;
  });
}

/** A kind of change, with all values that decide the answer. */
interface Request<Answer> {
  /**
   * Name of the operation. A repeat must have the same name and `input`, which excludes revision
   * and key.
   */
  operation: string;
  input: unknown;
  /** Refuses an input that names a missing resource, before the revision is checked. */
  exists?(): Promise<void>;
  /** Makes the step, outside of a transaction. */
  prepare(workspace: Workspace): Promise<Step>;
  answer(row: WorkspaceRow, base: TemplateFiles): Answer;
}

/**
 * Runs a change of a workspace. A repeat with the same key gets the first answer, even after later
 * changes. @throws ConflictError for a stale revision, and for a key of a different change;
 * ResourceNotFoundError
 */
export async function change<Answer>(
  app: App,
  caller: Caller,
  templateId: string,
  { expectedRevision, idempotencyKey }: Guard,
  request: Request<Answer>,
): Promise<Answer> {
  const { db } = app.store;
  await getWorkspaceRow(db, caller.organizationId, templateId);
  await request.exists?.();
  const { operation, input } = request;
  const identity = JSON.stringify([operation, expectedRevision, input]);
  await sliceTurns();
  const fingerprint = hash('sha256', identity, 'hex');
  const key = claimKeyOf(caller, idempotencyKey);
  const again = () => answerAgain<Answer>(db, templateId, key, fingerprint);
  const kept = await again();
  if (kept) return kept.answer;

  const workspace = await openWorkspace(db, caller.organizationId, templateId);
  const { row } = workspace;
  /** Returns the answer of a concurrent request with the same key. @throws ConflictError */
  const madeOrStale = async () => {
    const made = await again();
    if (made) return made.answer;
    const present = await getWorkspaceRow(db, caller.organizationId, templateId);
    throw stale(expectedRevision, present.revision);
  };
  if (String(row.revision) !== expectedRevision) return madeOrStale();
  await sliceTurns();
  const step = await unlessDeleted(db, templateId, () => request.prepare(workspace));
  await sliceTurns();
  const now = app.clock.now();
  const next = nextRow(workspace, step, authorOf(caller), now);
  await sliceTurns();
  const answer = request.answer(next, step.base ?? workspace.base);
  const answerRow = {
    template_id: templateId,
    idempotency_key: key,
    organization_id: row.organization_id,
    fingerprint,
    answer: await deflated(Buffer.from(JSON.stringify(answer))),
    created_at: now,
  };
  await sliceTurns();
  const isDone = await commitStep(app, caller, next, step, async (trx) => {
    if (!(await insertAnswer(trx, answerRow))) throw usedKey();
  });
  return isDone ? answer : madeOrStale();
}

function usedKey(): ConflictError {
  return new ConflictError(
    'idempotency-key',
    'This idempotencyKey was used for another change: use a new key for a new change',
  );
}

async function answerAgain<Answer>(
  db: Db,
  templateId: string,
  key: string,
  fingerprint: string,
): Promise<{ answer: Answer } | undefined> {
  const made = await findAnswer(db, templateId, key);
  if (!made) return undefined;
  if (made.fingerprint !== fingerprint) throw usedKey();
  noticeReplay();
  const json = await inflated(made.answer, mostAnswerBytes);
  return { answer: fromJson<Answer>(json.toString()) };
}
