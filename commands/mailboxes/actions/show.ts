// `svc mailboxes actions show`. src/inbox/approvals/proposals.ts has the content of proposals.
import { Flags } from '@oclif/core';
import type { ShownAction } from '../../../src/inbox/approvals/schema.ts';
import { actionArgs, actionCard, callOnAction } from '../../base/action.ts';
import { BaseCommand } from '../../base/command.ts';
import { print, writeBytes } from '../../base/output/output.ts';

const fileColumns = ['n', 'filename', 'contentType', 'contentId', 'size', 'digest'];

export default class MailboxesActionsShow extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Show an action, with the whole mail of a proposal';

  static override description =
    '--raw and --attachment write the bytes unchanged, for a file or another program, ' +
    'while the proposal waits. The SHA-256 of the raw mail is its digest.';

  static override examples = [
    {
      description: 'Show a proposal with its sender, recipients and text',
      command: 'svc mailboxes actions show act_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    {
      description: 'Write the mail without Date, Message-ID and signature',
      command: 'svc mailboxes actions show act_06dq2k0qz8h3v5m1r9t4w7xy --raw > mail.eml',
    },
    {
      description: 'Write the first attachment to a file',
      command: 'svc mailboxes actions show act_06dq2k0qz8h3v5m1r9t4w7xy --attachment 1 > offer.pdf',
    },
  ];

  static override args = actionArgs;

  static override flags = {
    raw: Flags.boolean({
      description: 'Write the mail of a proposal (RFC 5322)',
      exclusive: ['attachment', 'json'],
    }),
    attachment: Flags.integer({
      description: 'Write this attachment, counted from 1',
      helpValue: 'N',
      min: 1,
      exclusive: ['json'],
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MailboxesActionsShow);
    const { raw, attachment } = flags;
    if (raw || attachment !== undefined) {
      const file =
        attachment === undefined
          ? await callOnAction(flags, args.action, async () => (await loadRoutes()).raw)
          : await callOnAction(flags, args.action, async () => (await loadRoutes()).attachment, {
              params: { n: String(attachment) },
            });
      return writeBytes(file.bytes);
    }
    const action = await callOnAction(flags, args.action, async () => (await loadRoutes()).get);
    await print(flags, action, () => viewOf(action));
  }
}

async function loadRoutes() {
  return (await import('../../../src/inbox/approvals/routes.ts')).mailboxActionRoutes;
}

async function viewOf(action: ShownAction): Promise<string> {
  const { card, table } = await import('../../base/output/format.ts');
  const { wordsShown } = await import('../../base/review/view.ts');
  const { content } = action;
  const parts = [card(action, actionCard)];
  if (content && content.attachments.length > 0) {
    parts.push(table(content.attachments, fileColumns));
  }
  if (content) parts.push(...wordsShown(content, content.notes));
  return parts.join('\n\n');
}
