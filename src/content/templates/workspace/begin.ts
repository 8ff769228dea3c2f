// The beginning of a workspace: the first commit of a new template. Also reads the present files of
// the head.
import { type Caller, callerId } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { InternalError } from '../../../platform/errors.ts';
import type { Db } from '../../../platform/store/db.ts';
import { type PreparedCommit, prepareCommit } from '../../git/commit.ts';
import { createRepository, filesAt, findHead, growthBy } from '../../git/repository.ts';
import type { TemplateFiles } from '../../rendering/compiled.ts';
import { checkFiles } from '../../rendering/files.ts';
import { unlessDeleted } from './changes.ts';
import { insertWorkspace } from './queries.ts';
import { authorOf } from './view.ts';

/** Returns the author of a caller's commits. */
export function commitAuthorOf(caller: Caller): { name: string; email: string } {
  const id = callerId(caller) ?? 'operator';
  // A commit never changes: the name of a member could not be erased from it.
  const name = caller.by.kind === 'member' ? id : (caller.keyName ?? id);
  return { name, email: `${id}@svc.invalid` };
}

/**
 * Makes the first commit of a template, before the transaction that creates it. Stores nothing.
 * @throws ValidationError on `files`
 */
export function prepareWorkspace(
  app: App,
  caller: Caller,
  templateId: string,
  files: TemplateFiles,
): Promise<PreparedCommit> {
  checkFiles(files);
  const message = 'Create the template';
  const [author, at] = [commitAuthorOf(caller), app.clock.now()];
  return prepareCommit(null, templateId, { files, parents: [], author, message, at });
}

/**
 * Stores the repository and the workspace of a new template, in the transaction that creates it.
 */
export async function beginWorkspace(
  app: App,
  trx: Db,
  caller: Caller,
  templateId: string,
  first: PreparedCommit,
): Promise<void> {
  const { organizationId } = caller;
  const [now, author] = [app.clock.now(), JSON.stringify(authorOf(caller))];
  await createRepository(trx, { id: templateId, organizationId }, growthBy(first));
  await insertWorkspace(trx, {
    template_id: templateId,
    organization_id: organizationId,
    revision: 1,
    base_commit: first.oid,
    pending_head: null,
    overlay: '{}',
    conflicts: '[]',
    provenance: '[]',
    created_at: now,
    updated_at: now,
    created_by: author,
    updated_by: author,
  });
}

/**
 * Returns the head of main of a template, with the files, without staged files. @throws
 * ResourceNotFoundError for a deleted template
 */
export async function headFiles(
  db: Db,
  templateId: string,
): Promise<{ commit: string; files: TemplateFiles }> {
  return unlessDeleted(db, templateId, async () => {
    const head = await findHead(db, templateId);
    const files = head && (await filesAt(db, templateId, head.oid));
    if (!files) throw new InternalError(`The repository of ${templateId} is missing`, 'store');
    return { commit: head.oid, files };
  });
}
