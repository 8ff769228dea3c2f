import { Flags } from '@oclif/core';
import { templateRoutes } from '../../src/content/templates/routes.ts';
import { given, textFrom } from '../base/input/body.ts';
import { findTemplateWithId, templateCard } from '../base/nouns/template-id.ts';
import { writeWarning } from '../base/output/output.ts';
import { createCommand } from '../base/verbs.ts';

export default createCommand({
  summary: 'Create a template from a folder, or from texts',
  description:
    'A folder has template.yaml, and body.mjml or body.html; hidden files are left out. Change ' +
    'the files later and save them by `svc templates push DIR`.',
  examples: [
    ['Create a template from a folder', 'svc templates create --slug welcome --from welcome/'],
    [
      'Create a template from texts',
      'svc templates create --slug welcome --subject "Hello {{ name }}" --html @welcome.html',
    ],
  ],
  names: { html: null, mjml: null, text: null },
  flags: {
    from: Flags.string({
      description: 'Folder with all files of the template',
      helpValue: 'DIR',
      exclusive: ['subject', 'preheader', 'html', 'mjml', 'text', 'brand'],
    }),
    html: Flags.string({
      description: 'HTML, @FILE, or - for standard input',
      exclusive: ['mjml'],
    }),
    mjml: Flags.string({ description: 'MJML, @FILE, or - for standard input' }),
    text: Flags.string({ description: 'Plain text (default: made from the HTML), @FILE, or -' }),
  },
  more: async (flags) => {
    const typed = flags as Record<'from' | 'html' | 'mjml' | 'text', string | undefined>;
    const { readTemplateFolder } = await import('../base/nouns/template-folder.ts');
    return given({
      files: typed.from === undefined ? undefined : await readTemplateFolder(typed.from),
      html: await textFrom(typed.html),
      mjml: await textFrom(typed.mjml),
      text: await textFrom(typed.text),
    });
  },
  route: templateRoutes.create,
  card: templateCard,
  after: async (session, { id, slug }, { from }) => {
    if (typeof from !== 'string') return;
    const { findClone, leaveState } = await import('../base/nouns/template-clone.ts');
    const { workspaceRoutes } = await import('../../src/content/templates/workspace/routes.ts');
    const state = await findClone(from);
    const known = state && (await findTemplateWithId(session, state.template));
    if (known) {
      writeWarning(`${from} stays a clone of ${known.slug}: a push saves there`);
      return;
    }
    const { workspace } = await session.ask(workspaceRoutes.show, { params: { id } });
    await leaveState(from, { template: id, commit: workspace.baseCommit }, slug);
  },
});
