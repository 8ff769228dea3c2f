// `svc messages list` (specification 4.1). Messages themselves: src/messages/; their way out:
// src/sending/ and src/queue/.
import { Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { BaseCommand, pageFlags } from '../base/command.ts';
import { messageColumns, messageColumnsForPeople } from '../base/fields.ts';
import { capturedNote, counterpartOf, shownMessage } from '../base/message-view.ts';
import { printList } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class MessagesList extends BaseCommand {
  static override summary = 'List messages, newest first';

  static override description =
    'By recipient, sender, subject and tag a message is found about a second after it was stored, ' +
    'while a daemon runs; without these filters at once.';

  static override examples = [
    {
      description: 'What Ada got of the invoices',
      command: 'svc messages list --to ada@example.com --subject Invoice',
    },
    { description: 'What arrived', command: 'svc messages list --direction inbound' },
    {
      description: 'What bounced in January',
      command: 'svc messages list --status bounced --start-date 2026-01-01 --end-date 2026-01-31',
    },
  ];

  static override flags = {
    status: Flags.string({ description: 'Only these: pending, delivered, bounced, …' }),
    direction: Flags.string({ description: 'outbound or inbound' }),
    to: Flags.string({ description: 'To, cc or bcc this address', helpValue: 'ADDRESS' }),
    from: Flags.string({ description: 'From this address', helpValue: 'ADDRESS' }),
    subject: Flags.string({ description: 'The subject begins with this', helpValue: 'TEXT' }),
    tag: Flags.string({ description: 'With this tag' }),
    conversation: Flags.string({ description: 'Of this conversation', helpValue: 'ID' }),
    contact: Flags.string({ description: 'Of this contact', helpValue: 'ID' }),
    'start-date': Flags.string({ description: 'Created at or after, ISO 8601', helpValue: 'TIME' }),
    'end-date': Flags.string({
      description: 'Created at or before; a bare date means all of that day',
      helpValue: 'TIME',
    }),
    ...pageFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(MessagesList);
    await withCaller(flags, async (app, caller) => {
      const { listMessages } = await import('../../src/messages/messages.ts');
      const { listMessagesQuery } = await import('../../src/messages/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const filter = given({
        status: flags.status,
        direction: flags.direction,
        conversationId: flags.conversation,
        contactId: flags.contact,
        startDate: flags['start-date'],
        endDate: flags['end-date'],
        recipient: flags.to,
        sender: flags.from,
        subject: flags.subject,
        tag: flags.tag,
        page: flags.page,
        limit: flags.limit,
      });
      const messages = await listMessages(
        app,
        caller,
        parseWith(listMessagesQuery, filter, 'query'),
      );
      const columns = process.stdout.isTTY ? messageColumnsForPeople : messageColumns;
      await printList(flags, messages, columns, 'No such messages.', {
        rows: messages.items.map((one) => ({ ...shownMessage(one), who: counterpartOf(one) })),
        note: capturedNote(messages.items.flatMap(({ deliveries }) => deliveries)),
      });
    });
  }
}
