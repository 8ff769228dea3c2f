// `svc mailboxes reject`. What becomes of a proposal: src/mailbox-actions/actions.ts.
import { Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { printCard } from '../base/output.ts';
import { callRoute } from '../base/route.ts';
import { actionArgs, actionCard } from './approve.ts';

export default class MailboxesReject extends BaseCommand {
  static override summary = 'Refuse what a key proposed to send';

  static override examples = [
    {
      description: 'Who proposed it reads the note',
      command:
        'svc mailboxes reject mbx_06dq2k0qz8h3v5m1r9t4w7xy act_06dq2k0qz8h3v5m1r9t4w7xy --note "Ask first"',
    },
  ];

  static override args = actionArgs;

  static override flags = { note: Flags.string({ description: 'Why' }) };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MailboxesReject);
    const action = await callRoute(
      flags,
      async () => (await import('../../src/mailbox-actions/routes.ts')).mailboxActionRoutes.reject,
      {
        params: { id: args.id, actionId: args.action },
        body: given({ note: flags.note }),
      },
    );
    await printCard(flags, action, actionCard);
  }
}
