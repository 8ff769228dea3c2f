// `svc templates pull`: brings new commits into a cloned folder.
import { Args, Flags } from '@oclif/core';
import { ConflictError } from '../../src/platform/errors.ts';
import { BaseCommand } from '../base/command.ts';
import { print } from '../base/output/output.ts';
import { runRoute } from '../base/route.ts';
import { withCaller } from '../base/session.ts';

export default class TemplatesPull extends BaseCommand {
  static override summary = 'Receive new commits in a cloned folder';

  static override description =
    'Your own changes stay. A file that you and main both changed is a conflict, exit code 5, and ' +
    'nothing is written, unless --take says which to keep.';

  static override examples = [
    { description: 'Receive the new commits', command: 'svc templates pull order-shipped/' },
    {
      description: 'Keep your version of files that both changed',
      command: 'svc templates pull order-shipped/ --take mine',
    },
  ];

  static override args = {
    dir: Args.string({ description: 'Folder of svc templates clone', required: true }),
  };

  static override flags = {
    take: Flags.string({
      description: 'Version to keep of files that both changed',
      options: ['mine', 'main'],
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TemplatesPull);
    const { changedPaths, readClone, visibleAndHidden, writeFiles, writeState } = await import(
      '../base/nouns/template-clone.ts'
    );
    const { readTemplateFolder } = await import('../base/nouns/template-folder.ts');
    const state = await readClone(args.dir);
    const mine = await readTemplateFolder(args.dir);
    const done = await withCaller(flags, async (app, caller) => {
      const { workspaceRoutes } = await import('../../src/content/templates/workspace/routes.ts');
      const { headFiles } = await import('../../src/content/templates/workspace/begin.ts');
      const { filesAt } = await import('../../src/content/git/repository.ts');
      const { mergeFiles } = await import('../../src/content/git/merge.ts');
      const params = { id: state.template };
      await runRoute(app, caller, workspaceRoutes.show, { params });
      const { db } = app.store;
      const head = await headFiles(db, state.template);
      const { commit } = head;
      const [files] = visibleAndHidden(head.files);
      const [base] = visibleAndHidden((await filesAt(db, state.template, state.commit)) ?? {});
      const isMine = flags.take !== 'main';
      const merged = isMine ? mergeFiles(base, mine, files) : mergeFiles(base, files, mine);
      const paths = merged.conflicts.map(({ path }) => path);
      if (paths.length > 0 && flags.take === undefined) {
        throw new ConflictError(
          'workspace',
          `You and main both changed ${paths.join(', ')}: choose by --take mine or --take main`,
        );
      }
      const written = await writeFiles(args.dir, mine, merged.files);
      await writeState(args.dir, { ...state, commit });
      return { commit, files: written, changed: changedPaths(files, merged.files) };
    });
    await print(flags, done, () => {
      if (done.files.length === 0) return `Up to date at ${done.commit}`;
      return `Changed ${done.files.join(', ')}: the folder is at ${done.commit}`;
    });
  }
}
