// `svc templates push`: saves the files of a folder as a commit; with --watch at each change, with
// a preview. A folder without a state is pushed by the slug, which makes the template if it is new.
//
//   folder         | --slug | template with the slug | then
//   ---------------+--------+------------------------+------------------------------------------
//   clone          | none   |                        | saved, unless main has further commits
//   clone          | own    | the cloned template    | as without --slug
//   clone          | other  | any                    | refused, exit code 2
//   without state  | none   |                        | refused, exit code 2
//   without state  | given  | there                  | saved on top of main
//   without state  | given  | not there              | created
//
// A state of a template that is not in this store counts as none.
import { join } from 'node:path';
import { Args, Flags } from '@oclif/core';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { ConflictError, messageOf } from '../../src/platform/errors.ts';
import { sleep, systemClock } from '../../src/platform/runtime/clock.ts';
import { fileOperation } from '../base/account/file-broker.ts';
import { BaseCommand, type CommonFlags } from '../base/command.ts';
import type { CloneState } from '../base/nouns/template-clone.ts';
import { warningLine } from '../base/nouns/template-id.ts';
import { UsageError } from '../base/output/failure.ts';
import { print, writeNote, writeWarning } from '../base/output/output.ts';
import { runRoute } from '../base/route.ts';
import { readStoreConfig, withCaller } from '../base/session.ts';

/** Name of the preview in the folder. Hidden files are not pushed. */
const previewFile = '.svc-preview.html';

/** Writes of an editor within this time count as a single change. */
const settleMs = 150;

interface Pushed {
  template: string;
  commit: string;
  /** Paths that differ from the previous commit. */
  files: string[];
}

export default class TemplatesPush extends BaseCommand {
  static override summary = 'Save the files of a folder as a commit';

  static override description =
    'With --slug it creates the template, or saves on top of the template of that slug. The ' +
    'folder then knows its template. Refuses files that do not compile. If main has commits ' +
    'that the folder lacks, it is a conflict, exit code 5: pull first. Sends use the commit ' +
    'after a publication.';

  static override examples = [
    {
      description: 'Create the template of a folder, or save a new state of it',
      command: 'svc templates push order-shipped/ --slug order-shipped',
    },
    {
      description: 'Save the changed files',
      command: 'svc templates push order-shipped/ --message "Greet by name"',
    },
    {
      description: 'Save at each change, until Ctrl-C',
      command: 'svc templates push order-shipped/ --watch',
    },
  ];

  static override args = {
    dir: Args.string({ description: 'Folder with the files of the template', required: true }),
  };

  static override flags = {
    slug: Flags.string({ description: 'Slug of the template to create or change' }),
    message: Flags.string({
      char: 'm',
      description: 'Message of the commit (default: the changed paths)',
    }),
    watch: Flags.boolean({
      description: 'Save at each change and write a preview, until Ctrl-C',
      exclusive: ['json'],
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TemplatesPush);
    // Changes to the account of the owner first, so that it can watch the folder.
    if (flags.watch) await readStoreConfig(flags);
    const changes = changesOf(args.dir);
    // Watches before it reads the files, so that no change is missed.
    let change = flags.watch ? changes.next() : undefined;
    const pushed = await push(flags, args.dir);
    await print(flags, pushed, () => inWords(pushed));
    if (!change) return;
    writeNote(`Watching ${args.dir}, with the preview ${join(args.dir, previewFile)}`);
    await preview(flags, args.dir);
    while (!(await change).done) {
      change = changes.next();
      try {
        const next = await push(flags, args.dir);
        if (next.files.length === 0) continue;
        await print(flags, next, () => inWords(next));
        await preview(flags, args.dir);
      } catch (error) {
        // Continues after an error, such as in a half-written file: the next change may mend it.
        writeWarning(messageOf(error));
      }
    }
  }
}

function inWords({ commit, files }: Pushed): string {
  return files.length === 0
    ? `Nothing changed since ${commit}`
    : `Saved ${files.join(', ')} as ${commit}`;
}

/** Yields after each change of a file in the folder, once the writes have settled. */
async function* changesOf(folder: string): AsyncGenerator<void> {
  await fileOperation('watch', folder);
  for (;;) {
    const filename = await fileOperation('nextChange', folder);
    if (filename?.split(/[/\\]/).some((name) => name.startsWith('.'))) continue;
    await sleep(systemClock, settleMs);
    yield;
  }
}

/** Writes a preview: the HTML that a send would have with the values of sample.json. */
async function preview(flags: CommonFlags, dir: string): Promise<void> {
  const { readTemplateFolder } = await import('../base/nouns/template-folder.ts');
  const files = await readTemplateFolder(dir);
  await withCaller(flags, async (app, caller) => {
    const { renderFiles } = await import('../../src/content/templates/render.ts');
    const { html, warnings } = await renderFiles(app, caller, files);
    await fileOperation('write', join(dir, previewFile), html ?? '');
    for (const warning of warnings) writeWarning(warningLine(warning));
  });
}

type PushFlags = CommonFlags & { message?: string | undefined; slug?: string | undefined };

async function push(flags: PushFlags, dir: string): Promise<Pushed> {
  const { changedPaths, leaveState, visibleAndHidden, writeState } = await import(
    '../base/nouns/template-clone.ts'
  );
  const { readTemplateFolder } = await import('../base/nouns/template-folder.ts');
  const files = await readTemplateFolder(dir);
  return withCaller(flags, async (app, caller) => {
    const { headFiles } = await import('../../src/content/templates/workspace/begin.ts');
    const { pushFiles } = await import('../../src/content/templates/workspace/incoming.ts');
    const state = await stateOf(app, caller, dir, flags.slug);
    const { slug } = flags;
    const leave = (next: CloneState) =>
      slug === undefined ? writeState(dir, next) : leaveState(dir, next, slug);
    if (state === null) return create(app, caller, slug ?? '', files, leave);
    const { template } = state;
    const head = await headFiles(app.store.db, template);
    const [visible, hidden] = visibleAndHidden(head.files);
    const changed = changedPaths(visible, files);
    const base = state.commit ?? head.commit;
    if (changed.length > 0 && head.commit !== base) {
      throw new ConflictError(
        'workspace',
        `main has commits that ${dir} lacks: pull them first, by svc templates pull ${dir}`,
      );
    }
    let { commit } = head;
    if (changed.length > 0) {
      const message = flags.message ?? `Change ${changed.slice(0, 5).join(', ')}`;
      const onMain = { files: { ...hidden, ...files }, commit: base, message };
      commit = await pushFiles(app, caller, template, onMain);
    }
    await leave({ template, commit });
    return { template, commit, files: changed };
  });
}

/**
 * Returns the template of a folder, and the commit of the files if the folder has a state. Null for
 * a slug without a template. @throws UsageError for a clone of a different template, and for a
 * folder without state and slug
 */
async function stateOf(
  app: App,
  caller: Caller,
  dir: string,
  slug: string | undefined,
): Promise<{ template: string; commit: string | null } | null> {
  const { findClone, readClone } = await import('../base/nouns/template-clone.ts');
  const { templateRoutes } = await import('../../src/content/templates/routes.ts');
  if (slug === undefined) {
    const state = await readClone(dir);
    await runRoute(app, caller, templateRoutes.get, { params: { id: state.template } });
    return state;
  }
  const { findTemplatesBySlugs, templates } = await import(
    '../../src/content/templates/queries.ts'
  );
  const { db } = app.store;
  const state = await findClone(dir);
  const cloned = state && (await templates.find(db, caller.organizationId, state.template));
  if (cloned && cloned.slug !== slug) {
    throw new UsageError(`${dir} is a clone of ${cloned.slug}: push it without --slug`);
  }
  if (cloned) return state;
  const [named] = await findTemplatesBySlugs(db, [caller.organizationId], [slug]);
  return named ? { template: named.id, commit: null } : null;
}

async function create(
  app: App,
  caller: Caller,
  slug: string,
  files: Record<string, string>,
  leave: (state: CloneState) => Promise<void>,
): Promise<Pushed> {
  const { changedPaths } = await import('../base/nouns/template-clone.ts');
  const { templateRoutes } = await import('../../src/content/templates/routes.ts');
  const { headFiles } = await import('../../src/content/templates/workspace/begin.ts');
  const body = { slug, files };
  const { id: template } = await runRoute(app, caller, templateRoutes.create, { body });
  const { commit } = await headFiles(app.store.db, template);
  await leave({ template, commit });
  return { template, commit, files: changedPaths({}, files) };
}
