// `svc mailboxes reject`. Life of a proposal: src/mailbox-actions/actions.ts.
import { Flags } from '@oclif/core';
import { actionArgs, actionCard, callOnAction } from '../base/action.ts';
import { given } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { printCard } from '../base/output.ts';

export default class MailboxesReject extends BaseCommand {
  static override summary = 'Reject a proposal of a key: it is not sent';

  static override examples = [
    {
      description: 'Reject a proposal with a note for the key',
      command: 'svc mailboxes reject act_06dq2k0qz8h3v5m1r9t4w7xy --note "Ask first"',
    },
  ];

  static override args = actionArgs;

  static override flags = {
    note: Flags.string({ description: 'Note on the decision, for the key that proposed it' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MailboxesReject);
    const action = await callOnAction(
      flags,
      args.action,
      async () => (await import('../../src/mailbox-actions/routes.ts')).mailboxActionRoutes.reject,
      { body: given({ note: flags.note }) },
    );
    await printCard(flags, action, actionCard);
  }
}
