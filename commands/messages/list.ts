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
    'While a daemon runs, the filters by recipient, sender, subject and tag find a ' +
    'message about a second after it was stored; all others find it at once.';

  static override examples = [
    {
      description: 'List the invoices sent to Ada',
      command: 'svc messages list --to ada@example.com --subject Invoice',
    },
    { description: 'List received messages', command: 'svc messages list --direction inbound' },
    {
      description: 'List the bounces of January',
      command: 'svc messages list --status bounced --start-date 2026-01-01 --end-date 2026-01-31',
    },
  ];

  static override flags = {
    status: Flags.string({ description: 'Only this status: pending, delivered, bounced, …' }),
    direction: Flags.string({ description: 'Only this direction: outbound or inbound' }),
    to: Flags.string({
      description: 'Only messages with this address in to, cc or bcc',
      helpValue: 'ADDRESS',
    }),
    from: Flags.string({ description: 'Only messages from this address', helpValue: 'ADDRESS' }),
    subject: Flags.string({
      description: 'Only messages with a subject that begins so',
      helpValue: 'TEXT',
    }),
    tag: Flags.string({ description: 'Only messages with this tag' }),
    conversation: Flags.string({
      description: 'Only messages of this conversation',
      helpValue: 'ID',
    }),
    contact: Flags.string({ description: 'Only messages of this contact', helpValue: 'ID' }),
    'start-date': Flags.string({
      description: 'Only messages created at or after this time, ISO 8601',
      helpValue: 'TIME',
    }),
    'end-date': Flags.string({
      description: 'Only messages created at or before this time; a bare date includes that day',
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
      await printList(
        flags,
        messages,
        columns,
        'No messages found. Send one: svc messages send --help',
        {
          rows: messages.items.map((one) => ({ ...shownMessage(one), who: counterpartOf(one) })),
          note: capturedNote(messages.items.flatMap(({ deliveries }) => deliveries)),
        },
      );
    });
  }
}
