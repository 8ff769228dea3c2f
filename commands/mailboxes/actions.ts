// `svc mailboxes actions`. What an action is: src/mailbox-actions/actions.ts.
import { Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { printList } from '../base/output.ts';
import { callRoute } from '../base/route.ts';
import { args } from './show.ts';

export default class MailboxesActions extends BaseCommand {
  static override summary = 'List what keys did or proposed in a mailbox, newest first';

  static override examples = [
    {
      description: 'What waits for a decision',
      command: 'svc mailboxes actions mbx_06dq2k0qz8h3v5m1r9t4w7xy --state proposed',
    },
  ];

  static override args = args;

  static override flags = {
    state: Flags.string({
      description: 'proposed, approved, rejected, executed, failed or expired',
    }),
    type: Flags.string({ description: 'sendMessage, reply, forward, label, move or note' }),
    actor: Flags.string({ description: 'Only of this key', helpValue: 'KEY_ID' }),
    limit: Flags.string({ description: 'So many, at most 100' }),
    cursor: Flags.string({ description: 'nextCursor of the page before' }),
  };

  async run(): Promise<void> {
    const { args: typed, flags } = await this.parse(MailboxesActions);
    const { state, type, actor, limit, cursor } = flags;
    const page = await callRoute(
      flags,
      async () => (await import('../../src/mailbox-actions/routes.ts')).mailboxActionRoutes.list,
      { params: { id: typed.id }, query: given({ state, type, actor, limit, cursor }) },
    );
    const fields = ['createdAt', 'id', 'type', 'state', 'actor.displayName', 'summary.subject'];
    await printList(flags, page, fields, 'No key did anything in it yet');
  }
}
