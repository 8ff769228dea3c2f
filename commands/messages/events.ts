// `svc messages events` (specification 4.1). Messages themselves: src/messages/; their way out:
// src/sending/ and src/queue/.
import { BaseCommand } from '../base/command.ts';
import { eventColumns } from '../base/fields.ts';
import { messageArg, messageIdFrom } from '../base/message-id.ts';
import { printArray } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class MessagesEvents extends BaseCommand {
  static override summary = 'Show the timeline of a message, oldest event first';

  static override examples = [
    {
      description: 'Show its timeline',
      command: 'svc messages events msg_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = messageArg;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MessagesEvents);
    await withCaller(flags, async (app, caller) => {
      const id = await messageIdFrom(app, caller, args.id);
      const { listMessageEvents } = await import('../../src/messages/messages.ts');
      const events = await listMessageEvents(app, caller, id);
      await printArray(flags, events, eventColumns, 'This message has no events yet.');
    });
  }
}
