// Commits from git clients: pushes, which must extend main, and bundles, which may have diverged
// from main.
//
//   source  | extends main | draft            | effect
//   --------+--------------+------------------+------------------------------------------------------
//   push    | yes          | any              | main moves, draft merged, perhaps with conflicts
//   push    | no           | any              | refused: fetch and merge first
//   bundle  | yes          | without conflict | main moves, draft merged
//   bundle  | yes          | with conflict    | commits wait, draft merged
//   bundle  | no           | any              | commits wait, draft merged
//
// Waiting commits join main with the next save, and are dropped by a discard.
import type { Caller, FileAnswer, StreamedBody } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { ConflictError, ResourceNotFoundError, ValidationError } from '../../../platform/errors.ts';
import { readBundle, writeBundle } from '../../git/bundle.ts';
import { prepareCommit } from '../../git/commit.ts';
import { type Incoming, readIncoming } from '../../git/incoming.ts';
import { mergeFiles } from '../../git/merge.ts';
import { filesAt, findHead, type Head, keepPending, placeOf } from '../../git/repository.ts';
import type { TemplateFiles } from '../../rendering/compiled.ts';
import { compileFiles } from '../compile-files.ts';
import { commitAuthorOf } from './begin.ts';
import {
  commitStep,
  getWorkspaceRow,
  nextRow,
  openWorkspace,
  type Step,
  unlessDeleted,
  type Workspace,
} from './changes.ts';
import { type Conflict, draftOf, overlayTo } from './draft.ts';
import type { WorkspaceView } from './schema.ts';
import { authorOf, viewOf } from './view.ts';

export const bundleType = 'application/x-git-bundle';

/** Most attempts of a push or an import while concurrent requests change the workspace. */
const mostTries = 5;

/** Returns the head of main. @throws ResourceNotFoundError */
export async function headOf(
  app: App,
  { organizationId }: Caller,
  templateId: string,
): Promise<Head> {
  await getWorkspaceRow(app.store.db, organizationId, templateId);
  const head = await findHead(app.store.db, templateId);
  if (head) return head;
  throw new ResourceNotFoundError('template', templateId);
}

/** Returns the history of a template as a git bundle. @throws ResourceNotFoundError */
export async function exportBundle(
  app: App,
  caller: Caller,
  templateId: string,
): Promise<FileAnswer> {
  const head = await headOf(app, caller, templateId);
  const { db } = app.store;
  const bytes = await unlessDeleted(db, templateId, () => writeBundle(db, templateId, head));
  return { contentType: bundleType, filename: `${templateId}.bundle`, bytes };
}

/** Imports a bundle from a stream. @throws as `importBundle` */
export async function importStream(
  app: App,
  caller: Caller,
  templateId: string,
  stream: StreamedBody | undefined,
): Promise<WorkspaceView> {
  // Checks the workspace before it reads the body, which may be long.
  await getWorkspaceRow(app.store.db, caller.organizationId, templateId);
  const chunks: Buffer[] = [];
  for await (const chunk of stream?.chunks ?? []) chunks.push(chunk);
  return importBundle(app, caller, templateId, Buffer.concat(chunks));
}

interface Rebased {
  overlay: Step['overlay'] & object;
  conflicts: Conflict[];
  files: TemplateFiles;
}

/**
 * Merges the draft with incoming files, both based on `from`. Returns the files to stage on `onto`.
 */
function mergedDraft(
  from: TemplateFiles,
  draft: TemplateFiles,
  other: TemplateFiles,
  onto: TemplateFiles,
): Rebased {
  const { files, conflicts } = mergeFiles(from, draft, other);
  return {
    overlay: overlayTo(onto, files),
    conflicts: conflicts.map(({ path, base, ours, theirs }) => ({
      path,
      base,
      draft: ours,
      main: theirs,
    })),
    files,
  };
}

/** Makes the step by which main moves to the incoming commits. */
function forward(
  { base, overlay }: Workspace,
  incoming: Pick<Incoming, 'tip' | 'commits' | 'closing' | 'objects' | 'files'>,
  action: 'template.pushed' | 'template.bundled',
): Step {
  const { files, objects, commits, closing, tip } = incoming;
  const merged = mergedDraft(base, draftOf(base, overlay), files, files);
  return {
    overlay: merged.overlay,
    conflicts: merged.conflicts,
    growth: { objects, commits, closing },
    base: files,
    action,
    details: { commit: tip, commits: commits.length },
  };
}

/**
 * Moves main to a pushed commit.
 * @throws ConflictError for a push that does not extend main; ValidationError;
 * MalformedRequestError
 */
export async function receivePush(
  app: App,
  caller: Caller,
  templateId: string,
  { from, to, pack }: { from: string; to: string; pack: Buffer },
): Promise<void> {
  const { db } = app.store;
  for (let tries = 1; ; tries++) {
    const workspace = await openWorkspace(db, caller.organizationId, templateId);
    const { row } = workspace;
    if (row.base_commit === to) return;
    if (row.base_commit !== from) throw notOnTop();
    assertMergeable(workspace);
    const incoming = await unlessDeleted(db, templateId, () =>
      readIncoming(db, templateId, { pack, tip: to, head: from }),
    );
    if (!incoming.isFastForward) {
      // Main may have moved while the pack was read, perhaps by the same push.
      const present = await getWorkspaceRow(db, caller.organizationId, templateId);
      if (present.base_commit === row.base_commit || tries === mostTries) throw notOnTop();
      continue;
    }
    await compileFiles(app, caller.organizationId, incoming.files);
    const step = forward(workspace, incoming, 'template.pushed');
    const next = nextRow(workspace, step, authorOf(caller, 'git'), app.clock.now());
    if (await commitStep(app, caller, next, step)) return;
    if (tries === mostTries) throw notOnTop();
  }
}

/** Files based on a commit of main. */
export interface FilesOnCommit {
  files: TemplateFiles;
  /** The head of main on which the files are based. */
  commit: string;
  message: string;
}

/**
 * Commits files as the new head of main, if `commit` is still the head and the files compile. Moves
 * the draft onto the new head. Returns the new commit. @throws ConflictError,
 * ResourceNotFoundError, ValidationError
 */
export async function pushFiles(
  app: App,
  caller: Caller,
  templateId: string,
  { files, commit, message }: FilesOnCommit,
): Promise<string> {
  const { db } = app.store;
  for (let tries = 1; ; tries++) {
    const workspace = await openWorkspace(db, caller.organizationId, templateId);
    const { row } = workspace;
    if (row.base_commit !== commit) {
      throw new ConflictError('workspace', `main is at ${row.base_commit}, the files at ${commit}`);
    }
    assertMergeable(workspace);
    await compileFiles(app, caller.organizationId, files);
    const { oid, objects } = await prepareCommit(db, templateId, {
      files,
      parents: [commit],
      message,
      author: commitAuthorOf(caller),
      at: app.clock.now(),
    });
    const incoming = { tip: oid, commits: [oid], closing: new Set([oid]), objects, files };
    const step = forward(workspace, incoming, 'template.pushed');
    const next = nextRow(workspace, step, authorOf(caller), app.clock.now());
    if (await commitStep(app, caller, next, step)) return oid;
    if (tries === mostTries) throw notOnTop();
  }
}

/** @throws ConflictError while the draft has conflicts, or imported commits await a merge */
function assertMergeable({ row, conflicts }: Workspace): void {
  if (row.pending_head === null && conflicts.length === 0) return;
  throw new ConflictError(
    'workspace',
    'The workspace has conflicts or a bundle to merge: save or discard its draft first',
  );
}

function notOnTop(): ConflictError {
  return new ConflictError('workspace', 'non-fast-forward: fetch main and merge it first');
}

/**
 * Imports the commits of a bundle. If they extend main without a conflict with the draft, main
 * moves to them. Else they await a merge, and the draft becomes the merged files.
 * @throws ConflictError, ResourceNotFoundError, ValidationError, MalformedRequestError
 */
async function importBundle(
  app: App,
  caller: Caller,
  templateId: string,
  bundle: Buffer,
): Promise<WorkspaceView> {
  const { db } = app.store;
  await getWorkspaceRow(db, caller.organizationId, templateId);
  const { tip, pack } = readBundle(bundle);
  for (let tries = 1; ; tries++) {
    const workspace = await openWorkspace(db, caller.organizationId, templateId);
    const { row, base } = workspace;
    const isKnown = (await placeOf(db, templateId, tip)) !== undefined || row.pending_head === tip;
    if (isKnown) return viewOf(row, base);
    assertMergeable(workspace);
    const step = await unlessDeleted(db, templateId, async () => {
      const incoming = await readIncoming(db, templateId, { pack, tip, head: row.base_commit });
      return stepOfBundle(app, workspace, incoming);
    });
    const next = nextRow(workspace, step, authorOf(caller), app.clock.now());
    if (await commitStep(app, caller, next, step)) return viewOf(next, step.base ?? base);
    if (tries === mostTries) {
      throw new ConflictError('workspace', 'Others change the workspace: try again');
    }
  }
}

async function stepOfBundle(app: App, workspace: Workspace, incoming: Incoming): Promise<Step> {
  const { row, base, overlay } = workspace;
  const { tip, files, objects } = incoming;
  const { template_id: id, organization_id: organizationId } = row;
  if (incoming.isFastForward) {
    const step = forward(workspace, incoming, 'template.bundled');
    if (step.conflicts?.length === 0) {
      await compileFiles(app, organizationId, files);
      return step;
    }
  }
  if (incoming.base === undefined) {
    throw ValidationError.of('bundle', 'its main has no commit of this template below it');
  }
  const from = incoming.isFastForward
    ? base
    : ((await filesAt(app.store.db, id, incoming.base)) ?? base);
  const merged = mergedDraft(from, draftOf(base, overlay), files, base);
  return {
    overlay: merged.overlay,
    conflicts: merged.conflicts,
    pendingHead: tip,
    action: 'template.bundled',
    details: { commit: tip, conflicts: merged.conflicts.length },
    write: (trx) => keepPending(trx, { id, organizationId }, objects),
  };
}
