// Reads the head of main of a template, and commits on top of it: in the store, or at a server
// through the workspace of the template. A workspace with staged files hides main, so both
// functions then refuse.
import { randomUUID } from 'node:crypto';
import type { TemplateFiles } from '../../../src/content/rendering/compiled.ts';
import type { FilesOnCommit } from '../../../src/content/templates/workspace/incoming.ts';
import { ConflictError } from '../../../src/platform/errors.ts';
import type { Session } from '../asking.ts';

/** The head of main, with all its files. */
interface TemplateHead {
  commit: string;
  files: TemplateFiles;
}

const loadRoutes = async () =>
  (await import('../../../src/content/templates/workspace/routes.ts')).workspaceRoutes;

/**
 * Returns the head of main.
 * @throws ResourceNotFoundError; ConflictError at a server while files are staged
 */
export async function readHead(session: Session, template: string): Promise<TemplateHead> {
  if (session.local) {
    const { headFiles } = await import('../../../src/content/templates/workspace/begin.ts');
    return headFiles(session.local.app.store.db, template);
  }
  const { files, workspace } = await readUnstaged(session, template);
  return { commit: workspace.baseCommit, files };
}

/** Reads a workspace without staged files. @throws ConflictError */
async function readUnstaged(session: Session, template: string) {
  const { diff, show } = await loadRoutes();
  const params = { id: template };
  const view = await session.ask(show, { params });
  const staged = await session.ask(diff, { params });
  if (staged.files.length === 0 && view.workspace.pendingRemoteHead === null) return view;
  throw new ConflictError(
    'workspace',
    `${template} has staged files, which hide those of main: save or discard them first`,
  );
}

/**
 * Commits files on the head of main. Returns the new commit.
 * @throws ConflictError unless `commit` is the head; ValidationError
 */
export async function commitOnHead(
  session: Session,
  template: string,
  { files, commit, message }: FilesOnCommit,
): Promise<string> {
  if (session.local) {
    const { app, caller } = session.local;
    const { pushFiles } = await import('../../../src/content/templates/workspace/incoming.ts');
    return pushFiles(app, caller, template, { files, commit, message });
  }
  const { stage, save } = await loadRoutes();
  const { workspace, files: before } = await readUnstaged(session, template);
  if (workspace.baseCommit !== commit) {
    const text = `main is at ${workspace.baseCommit}, the files at ${commit}`;
    throw new ConflictError('workspace', text);
  }
  const gone = Object.keys(before).filter((path) => !Object.hasOwn(files, path));
  const changed = Object.entries(files).filter(([path, text]) => before[path] !== text);
  const body = { files: Object.fromEntries([...gone.map((path) => [path, null]), ...changed]) };
  const params = { id: template };
  const guard = (expectedRevision: string) => ({ expectedRevision, idempotencyKey: randomUUID() });
  const staged = await session.ask(stage, {
    params,
    body: { ...guard(workspace.revision), ...body },
  });
  const saved = await session.ask(save, {
    params,
    body: { ...guard(staged.workspace.revision), message },
  });
  return saved.workspace.baseCommit;
}
