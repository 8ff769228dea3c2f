// `svc templates push`: saves the files of a cloned folder as a commit; with --watch at each
// change, with a preview.
import { watch, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Args, Flags } from '@oclif/core';
import { ConflictError, messageOf } from '../../src/platform/errors.ts';
import { sleep, systemClock } from '../../src/platform/runtime/clock.ts';
import { BaseCommand, type CommonFlags } from '../base/command.ts';
import { warningLine } from '../base/nouns/template-id.ts';
import { print, writeNote, writeWarning } from '../base/output/output.ts';
import { runRoute } from '../base/route.ts';
import { withCaller } from '../base/session.ts';

/** The preview in the folder; hidden files are not pushed. */
const previewFile = '.svc-preview.html';

/** Time in which the writes of an editor count as a single change. */
const settleMs = 150;

interface Pushed {
  commit: string;
  /** Paths that differ from the commit before. */
  files: string[];
}

export default class TemplatesPush extends BaseCommand {
  static override summary = 'Save the files of a cloned folder as a commit';

  static override description =
    'Refuses files that do not compile. If main has commits that the folder lacks, it is a ' +
    'conflict, exit code 5: pull first. Sends use the commit after a publication.';

  static override examples = [
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
    dir: Args.string({ description: 'Folder of svc templates clone', required: true }),
  };

  static override flags = {
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
    const changes = changesOf(args.dir);
    // Watches before it reads the files, so that no change is missed.
    let change = flags.watch ? changes.next() : undefined;
    const pushed = await push(flags, args.dir, flags.message);
    await print(flags, pushed, () => inWords(pushed));
    if (!change) return;
    writeNote(`Watching ${args.dir}, with the preview ${join(args.dir, previewFile)}`);
    await preview(flags, args.dir);
    while (!(await change).done) {
      change = changes.next();
      try {
        const next = await push(flags, args.dir, flags.message);
        if (next.files.length === 0) continue;
        await print(flags, next, () => inWords(next));
        await preview(flags, args.dir);
      } catch (error) {
        // Goes on after a half-written file: the next change may mend it.
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
  const changes = watch(folder, { recursive: true });
  for await (const { filename } of changes) {
    if (filename?.split(/[/\\]/).some((name) => name.startsWith('.'))) continue;
    await sleep(systemClock, settleMs);
    yield;
  }
}

/** Writes the HTML that a send would have with the values of sample.json. */
async function preview(flags: CommonFlags, dir: string): Promise<void> {
  const { readTemplateFolder } = await import('../base/nouns/template-folder.ts');
  const files = await readTemplateFolder(dir);
  await withCaller(flags, async (app, caller) => {
    const { renderFiles } = await import('../../src/content/templates/render.ts');
    const { html, warnings } = await renderFiles(app, caller, files);
    await writeFile(join(dir, previewFile), html ?? '');
    for (const warning of warnings) writeWarning(warningLine(warning));
  });
}

async function push(flags: CommonFlags, dir: string, text: string | undefined): Promise<Pushed> {
  const { changedPaths, readClone, visibleAndHidden, writeState } = await import(
    '../base/nouns/template-clone.ts'
  );
  const { readTemplateFolder } = await import('../base/nouns/template-folder.ts');
  const state = await readClone(dir);
  const files = await readTemplateFolder(dir);
  return withCaller(flags, async (app, caller) => {
    const { workspaceRoutes } = await import('../../src/content/templates/workspace/routes.ts');
    const { headFiles } = await import('../../src/content/templates/workspace/begin.ts');
    const { pushFiles } = await import('../../src/content/templates/workspace/incoming.ts');
    const id = state.template;
    await runRoute(app, caller, workspaceRoutes.show, { params: { id } });
    const head = await headFiles(app.store.db, id);
    const [visible, hidden] = visibleAndHidden(head.files);
    const changed = changedPaths(visible, files);
    if (changed.length > 0 && head.commit !== state.commit) {
      throw new ConflictError(
        'workspace',
        `main has commits that ${dir} lacks: pull them first, by svc templates pull ${dir}`,
      );
    }
    if (changed.length === 0) {
      await writeState(dir, { ...state, commit: head.commit });
      return { commit: head.commit, files: [] };
    }
    const message = text ?? `Change ${changed.slice(0, 5).join(', ')}`;
    const pushed = { files: { ...hidden, ...files }, commit: state.commit, message };
    const commit = await pushFiles(app, caller, id, pushed);
    await writeState(dir, { ...state, commit });
    return { commit, files: changed };
  });
}
