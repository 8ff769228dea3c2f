// Templates with a workspace, and changes of them in short form.
import { templates } from '../../../../src/content/templates/queries.ts';
import { templateNoun } from '../../../../src/content/templates/schema.ts';
import {
  beginWorkspace,
  prepareWorkspace,
} from '../../../../src/content/templates/workspace/begin.ts';
import type { WorkspaceView } from '../../../../src/content/templates/workspace/schema.ts';
import {
  saveWorkspace,
  showWorkspace,
  stageFiles,
} from '../../../../src/content/templates/workspace/workspace.ts';
import type { Caller } from '../../../../src/core/api/route.ts';
import type { App } from '../../../../src/core/app.ts';

export const templateYaml = 'subject: Hello {{ name }}\n';

/** Files of a template; `word` makes them differ. */
export const filesOf = (word: string) => ({
  'body.html': `<p>${word}</p>`,
  'template.yaml': templateYaml,
});

let serial = 0;

/** Creates a template of these files; returns its id. */
export async function makeTemplate(
  app: App,
  caller: Caller,
  files: Record<string, string> = filesOf('first'),
): Promise<string> {
  const id = app.newId(templateNoun);
  const first = await prepareWorkspace(app, caller, id, files);
  const now = app.clock.now();
  serial += 1;
  await app.store.write(async (trx) => {
    await templates.insert(trx, {
      id,
      organization_id: caller.organizationId,
      name: 'Welcome',
      slug: `welcome-${serial}`,
      channel: 'email',
      description: null,
      status: 'draft',
      family_id: null,
      version_id: null,
      version_number: null,
      next_version: 1,
      published_at: null,
      archived_at: null,
      created_at: now,
      updated_at: now,
    });
    await beginWorkspace(app, trx, caller, id, first);
  });
  return id;
}

let keys = 0;

/** Returns the guard of a change at the present revision, with a fresh key. */
export async function guardOf(app: App, caller: Caller, id: string) {
  const { workspace } = await showWorkspace(app, caller, id);
  keys += 1;
  return { expectedRevision: workspace.revision, idempotencyKey: `key ${keys}` };
}

/** Stages files at the present revision. */
export async function stage(
  app: App,
  caller: Caller,
  id: string,
  files: Record<string, string | null>,
): Promise<WorkspaceView> {
  return stageFiles(app, caller, id, { ...(await guardOf(app, caller, id)), files });
}

/** Saves the staged files at the present revision. */
export async function save(
  app: App,
  caller: Caller,
  id: string,
  message?: string,
): Promise<WorkspaceView> {
  const guard = await guardOf(app, caller, id);
  return saveWorkspace(app, caller, id, { ...guard, ...(message !== undefined && { message }) });
}

/** Stages and saves one body; returns the commit. */
export async function saveBody(app: App, caller: Caller, id: string, word: string) {
  await stage(app, caller, id, filesOf(word));
  return (await save(app, caller, id)).workspace.baseCommit;
}
