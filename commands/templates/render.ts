// `svc templates render`: the content that a send would have, on the terminal, in a file or in the
// browser.
import { Flags } from '@oclif/core';
import type { Rendered } from '../../src/content/templates/schema.ts';
import { BaseCommand } from '../base/command.ts';
import { given, readData } from '../base/input/body.ts';
import { writeTextFile } from '../base/input/files.ts';
import { templateArg, templateId, warningLine } from '../base/nouns/template-id.ts';
import { print, writeNote, writeWarning } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

export default class TemplatesRender extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Show the content that a send would have';

  static override description =
    'Prints subject, preheader and text; --output writes the HTML. Without --data the values of ' +
    'sample.json are used. Advice goes to standard error.';

  static override examples = [
    {
      description: 'Open the HTML in the browser',
      command: 'svc templates render order-shipped --data @order.json --open',
    },
    {
      description: 'Write the HTML of the unpublished draft to a file',
      command: 'svc templates render order-shipped --draft --output preview.html',
    },
  ];

  static override args = templateArg;

  static override flags = {
    data: Flags.string({
      description: 'Values for Liquid as JSON: inline, @FILE, or - for standard input',
      helpValue: 'JSON',
    }),
    draft: Flags.boolean({ description: 'Render the unpublished draft' }),
    brand: Flags.string({ description: 'Slug of another brand' }),
    contact: Flags.string({ description: 'Contact whose values fill contact', helpValue: 'ID' }),
    'unsubscribe-group': Flags.string({
      description: 'Unsubscribe group of the send',
      helpValue: 'ID',
    }),
    footer: Flags.boolean({ description: 'Add the footer of the brand' }),
    output: Flags.string({ description: 'File for the HTML', helpValue: 'FILE' }),
    open: Flags.boolean({ description: 'Open the HTML in the browser', exclusive: ['json'] }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(TemplatesRender);
    const body = given({
      data: flags.data === undefined ? undefined : await readData(flags.data),
      draft: flags.draft || undefined,
      brand: flags.brand,
      contactId: flags.contact,
      unsubscribeGroupId: flags['unsubscribe-group'],
      footer: flags.footer ? { enabled: true } : undefined,
    });
    const rendered = await withSession(flags, async (session) => {
      const { render } = (await import('../../src/content/templates/routes.ts')).templateRoutes;
      const params = { id: await templateId(session, args.template) };
      return session.ask(render, { params, body });
    });
    await print(flags, rendered, () => viewOf(rendered));
    for (const warning of flags.json ? [] : rendered.warnings) writeWarning(warningLine(warning));
    const page = rendered.html ?? '';
    if (flags.output !== undefined) {
      await writeTextFile(page, flags.output);
      writeNote(`wrote the HTML to ${flags.output}`);
    }
    if (flags.open) {
      const { openPage } = await import('../base/browser.ts');
      await openPage(page);
    }
  }
}

async function viewOf({ subject, preheader, text }: Rendered): Promise<string> {
  const { plainText } = await import('../base/output/format.ts');
  const head = [`Subject:    ${subject}`];
  if (preheader !== null) head.push(`Preheader:  ${preheader}`);
  return plainText([...head, '', text ?? '(no text)'].join('\n'));
}
