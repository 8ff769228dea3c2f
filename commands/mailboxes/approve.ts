// `svc mailboxes approve`. Checks repeated before the send: src/answering/approve.ts.
import { Flags } from '@oclif/core';
import { actionArgs, actionCard, callOnAction } from '../base/action.ts';
import { given, textFrom } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { ExpectationError } from '../base/failure.ts';
import { printCard } from '../base/output.ts';

export default class MailboxesApprove extends BaseCommand {
  static override summary = 'Let go what a key proposed to send';

  static override description =
    'Once, byte for byte as it was proposed: svc mailboxes actions show has it whole. With --text, ' +
    '--subject or --to it is another mail, whose digest is in editedDigest. Exit code 8 where it cannot ' +
    'be sent any more.';

  static override examples = [
    {
      description: 'As it is: svc mailboxes actions MBX --state proposed names ids',
      command: 'svc mailboxes approve act_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = actionArgs;

  static override flags = {
    note: Flags.string({ description: 'A word on it' }),
    to: Flags.string({
      description: 'Recipient in the place of those proposed; may be repeated',
      helpValue: 'ADDRESS',
      multiple: true,
    }),
    subject: Flags.string({ description: 'Another subject' }),
    text: Flags.string({ description: 'Another plain text, or @FILE' }),
    html: Flags.string({ description: 'Other HTML, or @FILE' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MailboxesApprove);
    const { note, to, subject } = flags;
    const [text, html] = [await textFrom(flags.text), await textFrom(flags.html)];
    const edits = given({ to, subject, text, html });
    const body = given({ note, edits: Object.keys(edits).length > 0 ? edits : undefined });
    const action = await callOnAction(
      flags,
      args.action,
      async () => (await import('../../src/answering/routes.ts')).answeringRoutes.approve,
      { body },
    );
    await printCard(flags, action, actionCard);
    if (action.failure) throw new ExpectationError(`it was not sent: ${action.failure.message}`);
  }
}
