// `svc mailboxes actions`. Actions: src/mailbox-actions/actions.ts.
import { Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { mailboxArg, mailboxIdFrom } from '../base/mailbox-id.ts';
import { printList } from '../base/output.ts';
import { runRoute } from '../base/route.ts';
import { withCaller } from '../base/session.ts';

export default class MailboxesActions extends BaseCommand {
  static override summary = 'List the actions of keys in a mailbox, newest first';

  static override examples = [
    {
      description: 'List the proposals that wait for a decision',
      command: 'svc mailboxes actions mbx_06dq2k0qz8h3v5m1r9t4w7xy --state proposed',
    },
  ];

  static override args = mailboxArg;

  static override flags = {
    state: Flags.string({
      description: 'Only this state: proposed, approved, rejected, executed, failed or expired',
    }),
    type: Flags.string({
      description: 'Only this type: sendMessage, reply, forward, label, move or note',
    }),
    actor: Flags.string({ description: 'Only actions of this key', helpValue: 'KEY_ID' }),
    limit: Flags.string({ description: 'Number of items, at most 100' }),
    cursor: Flags.string({ description: 'nextCursor of the page before' }),
  };

  async run(): Promise<void> {
    const { args: typed, flags } = await this.parse(MailboxesActions);
    const { state, type, actor, limit, cursor } = flags;
    const page = await withCaller(flags, async (app, caller) => {
      const { mailboxActionRoutes } = await import('../../src/mailbox-actions/routes.ts');
      const params = { id: await mailboxIdFrom(app, caller, typed.mailbox ?? '') };
      const query = given({ state, type, actor, limit, cursor });
      return runRoute(app, caller, mailboxActionRoutes.list, { params, query });
    });
    const fields = ['createdAt', 'id', 'type', 'state', 'actor.displayName', 'summary.subject'];
    await printList(flags, page, fields, 'No key has acted in this mailbox yet');
  }
}
