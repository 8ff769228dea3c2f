// `svc mailboxes events`. Events of a mailbox: src/mailboxes/events.ts.
import { Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { printList } from '../base/output.ts';
import { callRoute } from '../base/route.ts';
import { timeFrom } from '../base/since.ts';
import { args } from './show.ts';

export default class MailboxesEvents extends BaseCommand {
  static override summary = 'List the events of a mailbox, newest first';

  static override examples = [
    {
      description: 'List its pauses; "svc audit" shows the actor',
      command: 'svc mailboxes events mbx_06dq2k0qz8h3v5m1r9t4w7xy --type mailbox.paused',
    },
  ];

  static override args = args;

  static override flags = {
    type: Flags.string({
      description: 'Only this kind of event, such as mailbox.paused',
      helpValue: 'KIND',
    }),
    since: Flags.string({ description: 'Only events since: 90s, 10m, 1h, 7d, or an instant' }),
    limit: Flags.string({ description: 'Number of items, at most 100' }),
    cursor: Flags.string({ description: 'nextCursor of the page before' }),
  };

  async run(): Promise<void> {
    const { args: typed, flags } = await this.parse(MailboxesEvents);
    const { type, limit, cursor } = flags;
    const since = timeFrom('--since', flags.since, Date.now());
    const page = await callRoute(
      flags,
      async () => (await import('../../src/mailboxes/routes.ts')).mailboxRoutes.events,
      { params: { id: typed.id }, query: given({ type, since, limit, cursor }) },
    );
    await printList(flags, page, ['timestamp', 'type', 'id'], 'This mailbox has no events yet');
  }
}
