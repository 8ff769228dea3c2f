// `svc messages delete` (specification 4.1). Messages themselves: src/messages/; their way out:
// src/sending/ and src/queue/.

import { confirmed } from '../base/ask.ts';
import { BaseCommand, yesFlag } from '../base/command.ts';
import { messageArg, messageIdFrom } from '../base/message-id.ts';
import { print } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class MessagesDelete extends BaseCommand {
  static override summary = 'Delete a message and its content for good';

  static override description =
    'Its unsent deliveries are cancelled. Asks for confirmation on a terminal; elsewhere ' +
    'it needs --yes.';

  static override examples = [
    {
      description: 'Delete a message in a script',
      command: 'svc messages delete msg_06dq2k0qz8h3v5m1r9t4w7xy --yes',
    },
  ];

  static override args = messageArg;

  static override flags = { ...yesFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MessagesDelete);
    await withCaller(flags, async (app, caller) => {
      const id = await messageIdFrom(app, caller, args.id);
      const { deleteMessage, getMessage } = await import('../../src/messages/messages.ts');
      const { status } = await getMessage(app, caller, id);
      await confirmed(`Delete the message ${id} (${status}) for good?`, flags.yes);
      const deleted = await deleteMessage(app, caller, id);
      await print(flags, deleted, () => deleted.message);
    });
  }
}
