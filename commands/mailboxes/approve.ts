// `svc mailboxes approve`. src/inbox/replies/approve.ts repeats the checks before the send.
import { Flags } from '@oclif/core';
import { actionArgs, actionCard, callOnAction } from '../base/action.ts';
import { BaseCommand } from '../base/command.ts';
import { given, textFrom } from '../base/input/body.ts';
import { delayFlag } from '../base/mail/mail-words.ts';
import { ExpectationError } from '../base/output/failure.ts';
import { printCard } from '../base/output/output.ts';

export default class MailboxesApprove extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Approve a proposal of a key: send it';

  static override description =
    'Sends it once, byte for byte as it was proposed: "svc mailboxes actions show" shows ' +
    'it whole. With --text, --subject or --to another mail is sent, with its digest in ' +
    'editedDigest. Ends with exit code 8 if it can no longer be sent.';

  static override examples = [
    {
      description: 'Approve a proposal from "svc mailboxes actions"',
      command: 'svc mailboxes approve act_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = actionArgs;

  static override flags = {
    note: Flags.string({ description: 'Note on the decision' }),
    to: Flags.string({
      description: 'Recipient in place of the proposed ones; may be repeated',
      helpValue: 'ADDRESS',
      multiple: true,
    }),
    subject: Flags.string({ description: 'Subject in place of the proposed one' }),
    text: Flags.string({
      description: 'Plain text in place of the proposed one, @FILE, or - for standard input',
    }),
    html: Flags.string({
      description: 'HTML in place of the proposed one, @FILE, or - for standard input',
    }),
    ...delayFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MailboxesApprove);
    const { note, to, subject } = flags;
    const [text, html] = [await textFrom(flags.text), await textFrom(flags.html)];
    const edits = given({ to, subject, text, html });
    const delaySeconds = flags['delay-seconds'];
    const isEdited = Object.keys(edits).length > 0;
    const body = given({ note, delaySeconds, edits: isEdited ? edits : undefined });
    const action = await callOnAction(
      flags,
      args.action,
      async () => (await import('../../src/inbox/replies/routes.ts')).answeringRoutes.approve,
      { body },
    );
    await printCard(flags, action, actionCard);
    if (action.failure) throw new ExpectationError(`it was not sent: ${action.failure.message}`);
  }
}
