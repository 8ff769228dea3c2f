// The operations on the workspace of a template: show it, stage files, save them as a commit,
// discard them, and restore an earlier commit.
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { ConflictError, ResourceNotFoundError } from '../../../platform/errors.ts';
import type { Db } from '../../../platform/store/db.ts';
import { prepareCommit } from '../../git/commit.ts';
import { commitsBeyondMain, dropPending, filesAt, placeOf } from '../../git/repository.ts';
import type { TemplateFiles } from '../../rendering/compiled.ts';
import { checkFiles } from '../../rendering/files.ts';
import { compileFiles } from '../compile-files.ts';
import { commitAuthorOf } from './begin.ts';
import { change, openWorkspace, type Step, type Workspace } from './changes.ts';
import { type Conflict, draftOf, type Overlay, replacing, sourceOf, staged } from './draft.ts';
import type {
  DiscardInput,
  RestoreInput,
  RestoreResult,
  SaveInput,
  StageInput,
  WorkspaceView,
} from './schema.ts';
import { viewOf } from './view.ts';

/** Most paths that a message or an error names. */
const mostNamed = 5;

/** Returns the workspace with the files. @throws ResourceNotFoundError */
export async function showWorkspace(
  app: App,
  { organizationId }: Caller,
  templateId: string,
): Promise<WorkspaceView> {
  const { row, base } = await openWorkspace(app.store.db, organizationId, templateId);
  return viewOf(row, base);
}

function named(paths: readonly string[]): string {
  const shown = paths.slice(0, mostNamed).join(', ');
  const more = paths.length - mostNamed;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** Marks the conflicts on these paths as resolved. */
function resolving(conflicts: readonly Conflict[], paths: Iterable<string>): Conflict[] {
  const given = new Set(paths);
  return conflicts.map((one) => (given.has(one.path) ? { ...one, isResolved: true } : one));
}

/**
 * Stages files; null deletes a file. @throws ConflictError, ResourceNotFoundError, ValidationError
 */
export function stageFiles(
  app: App,
  caller: Caller,
  templateId: string,
  { files, ...guard }: StageInput,
): Promise<WorkspaceView> {
  return change(app, caller, templateId, guard, {
    operation: 'stage',
    input: Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)),
    async prepare({ base, overlay, conflicts, references }) {
      const next = staged(base, overlay, files);
      checkFiles(draftOf(base, next));
      const isEmpty = Object.keys(next).length === 0;
      return {
        overlay: next,
        conflicts: resolving(conflicts, Object.keys(files)),
        references: isEmpty ? [] : references,
        action: 'template.staged',
        details: { paths: named(Object.keys(files)) },
      };
    },
    answer: viewOf,
  });
}

/** Returns the default message of a save. */
function messageOf({ overlay, references, row }: Workspace): string {
  const [restored] = references;
  if (restored) return `Restore ${restored.locator.slice(-40)}`;
  if (row.pending_head !== null) return `Merge ${row.pending_head}`;
  return `Change ${named(Object.keys(overlay))}`;
}

/**
 * Commits the staged files to main, if they compile. Without staged files it changes nothing.
 * @throws ConflictError, ResourceNotFoundError, ValidationError
 */
export function saveWorkspace(
  app: App,
  caller: Caller,
  templateId: string,
  { message, ...guard }: SaveInput,
): Promise<WorkspaceView> {
  return change(app, caller, templateId, guard, {
    operation: 'save',
    input: message ?? null,
    prepare: (workspace) => saved(app, caller, workspace, message),
    answer: viewOf,
  });
}

async function saved(
  app: App,
  caller: Caller,
  workspace: Workspace,
  message: string | undefined,
): Promise<Step> {
  const { row, base, overlay, conflicts } = workspace;
  const open = conflicts.filter(({ isResolved }) => !isResolved).map(({ path }) => path);
  if (open.length > 0) {
    throw new ConflictError(
      'workspace',
      `The draft and main both changed ${named(open)}: stage these files, then save`,
    );
  }
  const action = 'template.saved';
  if (Object.keys(overlay).length === 0 && row.pending_head === null) return { action };
  const files = draftOf(base, overlay);
  await compileFiles(app, row.organization_id, files);
  const { db } = app.store;
  const pending = row.pending_head;
  const merged = pending === null ? [] : await commitsBeyondMain(db, row.template_id, pending);
  const isOnMain = merged.some(({ parents }) => parents.includes(row.base_commit));
  const commit = await prepareCommit(db, row.template_id, {
    files,
    parents: [...(isOnMain ? [] : [row.base_commit]), ...(pending === null ? [] : [pending])],
    author: commitAuthorOf(caller),
    message: message ?? messageOf(workspace),
    at: app.clock.now(),
  });
  return {
    overlay: {},
    conflicts: [],
    references: [],
    pendingHead: null,
    growth: {
      objects: commit.objects,
      commits: [...merged.map(({ oid }) => oid), commit.oid],
      mergesPending: merged.length > 0,
    },
    base: files,
    action,
    details: { commit: commit.oid },
  };
}

/**
 * Discards the staged files, and imported commits that await a merge. @throws ConflictError,
 * ResourceNotFoundError
 */
export function discardWorkspace(
  app: App,
  caller: Caller,
  templateId: string,
  guard: DiscardInput,
): Promise<WorkspaceView> {
  return change(app, caller, templateId, guard, {
    operation: 'discard',
    input: null,
    prepare: async ({ overlay, row }) => ({
      overlay: {},
      conflicts: [],
      references: [],
      pendingHead: null,
      action: 'template.discarded',
      ...(row.pending_head !== null && { write: (trx: Db) => dropPending(trx, templateId) }),
      details: { paths: named(Object.keys(overlay)) },
    }),
    answer: viewOf,
  });
}

/**
 * Stages the files of an earlier commit in place of all staged files, with a reference to that
 * commit. A later save appends a commit: history never changes. @throws ConflictError;
 * ResourceNotFoundError also for a commit outside of the history of main
 */
export async function restoreCommit(
  app: App,
  caller: Caller,
  templateId: string,
  { commit, ...guard }: RestoreInput,
): Promise<RestoreResult> {
  const { db } = app.store;
  let restored: TemplateFiles = {};
  return change(app, caller, templateId, guard, {
    operation: 'restore',
    input: commit,
    async exists() {
      const place = await placeOf(db, templateId, commit);
      if (place === undefined) throw new ResourceNotFoundError('commit', commit);
    },
    async prepare({ base, conflicts }) {
      const files = await filesAt(db, templateId, commit);
      if (!files) throw new ResourceNotFoundError('commit', commit);
      restored = files;
      const overlay: Overlay = replacing(base, files);
      return {
        overlay,
        conflicts: conflicts.map((one) => ({ ...one, isResolved: true as const })),
        references: [
          { kind: 'commit', digest: `sha1:${commit}`, locator: `${templateId}@${commit}` },
        ],
        action: 'template.restored',
        details: { commit },
      };
    },
    answer: (row, base) => ({ view: viewOf(row, base), source: sourceOf(restored) }),
  });
}
