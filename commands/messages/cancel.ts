// `svc messages cancel`. Cancellation: src/queue/cancel.ts.
import { BaseCommand } from '../base/command.ts';
import { messageCard } from '../base/fields.ts';
import { messageArg, messageIdFrom } from '../base/message-id.ts';
import { printMessage } from '../base/message-view.ts';
import { withCaller } from '../base/session.ts';

export default class MessagesCancel extends BaseCommand {
  static override summary = 'Cancel a message that has not been sent';

  static override description =
    'The message ends as failed, with the error code cancelled. A message that was sent ' +
    'in part, or has an attempt under way, is a conflict. Does not ask first.';

  static override examples = [
    {
      description: 'Cancel a scheduled message',
      command: 'svc messages cancel msg_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    {
      description: 'Cancel all scheduled messages',
      command:
        "svc messages list --status scheduled --json | jq -r '.items[].id' | xargs -n1 svc messages cancel",
    },
  ];

  static override args = messageArg;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MessagesCancel);
    await withCaller(flags, async (app, caller) => {
      const id = await messageIdFrom(app, caller, args.id);
      const { cancelMessage } = await import('../../src/queue/cancel.ts');
      await printMessage(flags, await cancelMessage(app, caller, id), messageCard);
    });
  }
}
