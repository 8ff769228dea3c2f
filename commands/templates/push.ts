// `svc templates push`: saves the files of a folder as a commit; with --watch at each change, with
// a preview. The state of a folder is the file .svc-template.json. A folder without a state needs
// --slug, which creates the template if no template has the slug.
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
// A state that names a template outside of this store counts as none.
import { join } from 'node:path';
import { Args, Flags } from '@oclif/core';
import type { Rendered } from '../../src/content/templates/schema.ts';
import { ConflictError, messageOf } from '../../src/platform/errors.ts';
import { sleep, systemClock } from '../../src/platform/runtime/clock.ts';
import { fileOperation } from '../base/account/file-broker.ts';
import type { Session } from '../base/asking.ts';
import { BaseCommand, type CommonFlags } from '../base/command.ts';
import type { CloneState } from '../base/nouns/template-clone.ts';
import { commitOnHead, readHead } from '../base/nouns/template-head.ts';
import { findTemplateWithId, warningLine } from '../base/nouns/template-id.ts';
import { UsageError } from '../base/output/failure.ts';
import { print, writeNote, writeWarning } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';
import { readStoreConfig } from '../base/session.ts';

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
  static override asksServer = true;

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
    // Changes to the account of the store first: that account then watches the folder.
    if (flags.watch && flags.server === undefined) await readStoreConfig(flags);
    const changes = changesOf(args.dir);
    // Watches before it reads the files, so that no change is missed.
    let change = flags.watch ? changes.next() : undefined;
    const pushed = await push(flags, args.dir);
    await print(flags, pushed, () => inWords(pushed));
    if (!change) return;
    writeNote(`Watching ${args.dir}, with the preview ${join(args.dir, previewFile)}`);
    await preview(flags, args.dir, pushed.template);
    while (!(await change).done) {
      change = changes.next();
      try {
        const next = await push(flags, args.dir);
        if (next.files.length === 0) continue;
        await print(flags, next, () => inWords(next));
        await preview(flags, args.dir, next.template);
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

/** Writes the HTML that a send would have with the values of sample.json. */
async function preview(flags: CommonFlags, dir: string, template: string): Promise<void> {
  const { readTemplateFolder } = await import('../base/nouns/template-folder.ts');
  const files = await readTemplateFolder(dir);
  await withSession(flags, async (session) => {
    const { html, warnings } = await rendered(session, template, files);
    await fileOperation('write', join(dir, previewFile), html ?? '');
    for (const warning of warnings) writeWarning(warningLine(warning));
  });
}

/** Renders the files; at a server, the draft that was made of them. */
async function rendered(
  session: Session,
  template: string,
  files: Record<string, string>,
): Promise<Rendered> {
  if (session.local) {
    const { app, caller } = session.local;
    const { renderFiles } = await import('../../src/content/templates/render.ts');
    return renderFiles(app, caller, files);
  }
  const { render } = (await import('../../src/content/templates/routes.ts')).templateRoutes;
  return session.ask(render, { params: { id: template }, body: { draft: true } });
}

type PushFlags = CommonFlags & { message?: string | undefined; slug?: string | undefined };

async function push(flags: PushFlags, dir: string): Promise<Pushed> {
  const { changedPaths, leaveState, visibleAndHidden, writeState } = await import(
    '../base/nouns/template-clone.ts'
  );
  const { readTemplateFolder } = await import('../base/nouns/template-folder.ts');
  const files = await readTemplateFolder(dir);
  return withSession(flags, async (session) => {
    const state = await stateOf(session, dir, flags.slug);
    const { slug } = flags;
    const leave = (next: CloneState) =>
      slug === undefined ? writeState(dir, next) : leaveState(dir, next, slug);
    if (state === null) return create(session, slug ?? '', files, leave);
    const { template } = state;
    const head = await readHead(session, template);
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
      commit = await commitOnHead(session, template, onMain);
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
  session: Session,
  dir: string,
  slug: string | undefined,
): Promise<{ template: string; commit: string | null } | null> {
  const { findClone, readClone } = await import('../base/nouns/template-clone.ts');
  const { templateRoutes } = await import('../../src/content/templates/routes.ts');
  if (slug === undefined) {
    const state = await readClone(dir);
    await session.ask(templateRoutes.get, { params: { id: state.template } });
    return state;
  }
  const state = await findClone(dir);
  const cloned = state && (await findTemplateWithId(session, state.template));
  if (cloned && cloned.slug !== slug) {
    throw new UsageError(`${dir} is a clone of ${cloned.slug}: push it without --slug`);
  }
  if (cloned) return state;
  const query = { slug, limit: '1' };
  const [named] = (await session.ask(templateRoutes.list, { query })).items;
  return named ? { template: named.id, commit: null } : null;
}

async function create(
  session: Session,
  slug: string,
  files: Record<string, string>,
  leave: (state: CloneState) => Promise<void>,
): Promise<Pushed> {
  const { changedPaths } = await import('../base/nouns/template-clone.ts');
  const { templateRoutes } = await import('../../src/content/templates/routes.ts');
  const body = { slug, files };
  const { id: template } = await session.ask(templateRoutes.create, { body });
  const { commit } = await readHead(session, template);
  await leave({ template, commit });
  return { template, commit, files: changedPaths({}, files) };
}
