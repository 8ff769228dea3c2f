// `svc messages resend`: src/outbound/sending/resend.ts.
import { Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { messageCard } from '../base/input/fields.ts';
import { idempotencyHeader } from '../base/input/idempotency-key.ts';
import { messageArg, messageIdFrom } from '../base/mail/message-id.ts';
import { messageText } from '../base/mail/message-view.ts';
import { print } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

export default class MessagesResend extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Send a message again as a new one';

  static override description =
    'Sends the stored content to the same recipients. The new message names the first one as ' +
    'resendOf. A message with deliveries in the queue is a conflict.';

  static override examples = [
    {
      description: 'Send a message again',
      command: 'svc messages resend msg_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    {
      description: 'Send it again once, in a script that may repeat',
      command: 'svc messages resend msg_06dq2k0qz8h3v5m1r9t4w7xy --idempotency-key again-7',
    },
  ];

  static override args = messageArg;

  static override flags = {
    'idempotency-key': Flags.string({
      description: 'Idempotency key: a repeat with it returns the first message',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MessagesResend);
    const headers = idempotencyHeader(flags['idempotency-key']);
    await withSession(flags, async (session) => {
      const { sendingRoutes } = await import('../../src/outbound/sending/routes.ts');
      const params = { id: await messageIdFrom(session, args.id) };
      const message = await session.ask(sendingRoutes.resend, { params, headers });
      await print(flags, message, () => messageText(message, messageCard));
    });
  }
}
