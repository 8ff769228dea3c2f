// `svc templates clone`: the files of a template in a folder, without git.
import { Args } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { readHead } from '../base/nouns/template-head.ts';
import { templateArg, templateId } from '../base/nouns/template-id.ts';
import { print } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

export default class TemplatesClone extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Write the files of a template to a folder';

  static override description =
    'Needs no git. Leaves out hidden files. Edit the files, then run `svc templates push DIR`. ' +
    'With git, clone `https://any:KEY@HOST/v1/templates/ID/git` instead.';

  static override examples = [
    {
      description: 'Write the last commit to a new folder',
      command: 'svc templates clone order-shipped order-shipped/',
    },
  ];

  static override args = {
    ...templateArg,
    dir: Args.string({ description: 'New or empty folder', required: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TemplatesClone);
    const { makeFolder, visibleAndHidden, writeFiles, writeState } = await import(
      '../base/nouns/template-clone.ts'
    );
    const done = await withSession(flags, async (session) => {
      const { workspaceRoutes } = await import('../../src/content/templates/workspace/routes.ts');
      const params = { id: await templateId(session, args.template) };
      const { workspace } = await session.ask(workspaceRoutes.show, { params });
      const template = workspace.projectId;
      const { commit, files } = await readHead(session, template);
      await makeFolder(args.dir);
      const [visible] = visibleAndHidden(files);
      const written = await writeFiles(args.dir, {}, visible);
      await writeState(args.dir, { template, commit });
      return { template, commit, dir: args.dir, files: written };
    });
    await print(flags, done, () => `Wrote ${done.files.length} files to ${args.dir}`);
  }
}
