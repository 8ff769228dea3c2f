// `svc templates lint`: advice about a template, or about a folder before it becomes a template.
import { Args } from '@oclif/core';
import type { Rendered } from '../../src/content/templates/schema.ts';
import { BaseCommand } from '../base/command.ts';
import { isFolder } from '../base/input/files.ts';
import { templateId, warningLine } from '../base/nouns/template-id.ts';
import { print } from '../base/output/output.ts';
import { storeOf, withSession } from '../base/route.ts';

export default class TemplatesLint extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Check the draft of a template, or a folder';

  static override description =
    'Fills it with sample.json and prints advice: a text that is missing, images without alt, ' +
    'HTML that Gmail clips. Files that do not compile are an error, exit code 2.';

  static override examples = [
    { description: 'Check the draft of a template', command: 'svc templates lint order-shipped' },
    { description: 'Check a folder', command: 'svc templates lint ./order-shipped' },
  ];

  static override args = {
    template: Args.string({
      description: 'Id (tmpl_…) or slug of the template, or a folder with a / in its name',
      required: true,
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TemplatesLint);
    const { template } = args;
    const { warnings } = await withSession(flags, async (session): Promise<Rendered> => {
      if (await isFolder(template)) {
        const { readTemplateFolder } = await import('../base/nouns/template-folder.ts');
        const { renderFiles } = await import('../../src/content/templates/render.ts');
        const { app, caller } = await storeOf(session, 'Checking a folder');
        return renderFiles(app, caller, await readTemplateFolder(template));
      }
      const { render } = (await import('../../src/content/templates/routes.ts')).templateRoutes;
      const params = { id: await templateId(session, template) };
      return session.ask(render, { params, body: { draft: true } });
    });
    await print(flags, { warnings }, () =>
      warnings.length === 0 ? 'No advice.' : warnings.map(warningLine).join('\n'),
    );
  }
}
