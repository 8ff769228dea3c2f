// `svc templates restore`: the files of an earlier commit as a new commit.
import { randomUUID } from 'node:crypto';
import { Args, Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { templateArg, templateId } from '../base/nouns/template-id.ts';
import { print } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

export default class TemplatesRestore extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Restore the files of an earlier commit';

  static override description =
    'Appends a commit with these files: the history stays. Sends use it after a publication.';

  static override examples = [
    {
      description: 'Restore a commit of the history',
      command: 'svc templates restore order-shipped 4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    },
  ];

  static override args = {
    ...templateArg,
    commit: Args.string({ description: 'Commit: 40 hexadecimal characters', required: true }),
  };

  static override flags = {
    stage: Flags.boolean({ description: 'Stage the files, and do not save them' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TemplatesRestore);
    const { commit } = args;
    const view = await withSession(flags, async (session) => {
      const { workspaceRoutes: routes } = await import(
        '../../src/content/templates/workspace/routes.ts'
      );
      const params = { id: await templateId(session, args.template) };
      const guard = (revision: string) => ({
        expectedRevision: revision,
        idempotencyKey: randomUUID(),
      });
      const { workspace } = await session.ask(routes.show, { params });
      const restored = await session.ask(routes.restore, {
        params,
        body: { ...guard(workspace.revision), commit },
      });
      if (flags.stage) return restored.view;
      const body = guard(restored.view.workspace.revision);
      return session.ask(routes.save, { params, body });
    });
    const { baseCommit } = view.workspace;
    await print(flags, view, () =>
      flags.stage
        ? `Staged the files of ${commit}`
        : `Saved the files of ${commit} as ${baseCommit}`,
    );
  }
}
