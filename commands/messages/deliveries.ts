// `svc messages deliveries`: reads the message itself, which also names the recipient of each
// delivery.

import { shownStatus } from '../../src/outbound/messages/captured.ts';
import { BaseCommand, tableFlags } from '../base/command.ts';
import { deliveryColumns } from '../base/input/fields.ts';
import { messageArg, messageIdFrom } from '../base/mail/message-id.ts';
import { fateWords } from '../base/mail/message-view.ts';
import { printArray } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

export default class MessagesDeliveries extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Show the delivery to each recipient of a message';

  static override examples = [
    {
      description: 'Show the status and error of each recipient',
      command: 'svc messages deliveries msg_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    {
      description: 'Show the replies of the remote servers',
      command:
        "svc messages deliveries msg_06dq2k0qz8h3v5m1r9t4w7xy --json | jq '.[].attempts[].reply'",
    },
  ];

  static override args = messageArg;

  static override flags = tableFlags;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MessagesDeliveries);
    await withSession(flags, async (session) => {
      const id = await messageIdFrom(session, args.id);
      const { get } = (await import('../../src/outbound/messages/routes.ts')).messageRoutes;
      const { deliveries, recipients } = await session.ask(get, { params: { id } });
      const emails = new Map(recipients.map((one) => [one.id, one.email]));
      await printArray(flags, deliveries, deliveryColumns, 'This message has no deliveries.', {
        rows: deliveries.map((one) => ({
          ...one,
          recipient: emails.get(one.recipientId ?? ''),
          status: shownStatus(one),
        })),
        note: fateWords(deliveries),
      });
    });
  }
}
