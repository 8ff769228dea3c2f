// `svc messages events`: reads the message too, as a hold of a whole domain is in no timeline.
import { BaseCommand, tableFlags } from '../base/command.ts';
import { eventColumns } from '../base/input/fields.ts';
import { messageArg, messageIdFrom } from '../base/mail/message-id.ts';
import { fateWords } from '../base/mail/message-view.ts';
import { printArray } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

export default class MessagesEvents extends BaseCommand {
  static override summary = 'Show the timeline of a message, oldest event first';

  static override examples = [
    {
      description: 'Show its timeline',
      command: 'svc messages events msg_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override asksServer = true;

  static override args = messageArg;

  static override flags = tableFlags;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MessagesEvents);
    await withSession(flags, async (session) => {
      const id = await messageIdFrom(session, args.id);
      const { events, get } = (await import('../../src/outbound/messages/routes.ts')).messageRoutes;
      const params = { id };
      const items = await session.ask(events, { params });
      const { deliveries } = await session.ask(get, { params });
      await printArray(flags, items, eventColumns, 'This message has no events yet.', {
        rows: items,
        note: fateWords(deliveries),
      });
    });
  }
}
