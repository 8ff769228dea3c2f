// `svc messages show` (specification 4.1). Messages themselves: src/messages/; their way out:
// src/sending/ and src/queue/.
import { Args, Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { messageCard, recipientColumns } from '../base/fields.ts';
import { capturedNote, shownMessage } from '../base/message-view.ts';
import { print } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class MessagesShow extends BaseCommand {
  static override summary = 'Show a message with its recipients';

  static override description =
    'With --email what it says: its header fields as parsed, its text, its attachments.';

  static override examples = [
    { description: 'How far it got', command: 'svc messages show msg_06dq2k0qz8h3v5m1r9t4w7xy' },
    {
      description: 'What it says',
      command: 'svc messages show msg_06dq2k0qz8h3v5m1r9t4w7xy --email',
    },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the message (msg_…)', required: true }),
  };

  static override flags = {
    email: Flags.boolean({ description: 'Show the email itself' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MessagesShow);
    await withCaller(flags, async (app, caller) => {
      const { messageId } = await import('../../src/messages/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const id = parseWith(messageId, args.id, 'path');
      if (flags.email) {
        const { getEmailProjection } = await import('../../src/messages/email-projection.ts');
        const email = await getEmailProjection(app, caller, id, {});
        await print(flags, email, async () => {
          const { card, plainText } = await import('../base/format.ts');
          return `${card(email, emailCard)}\n\n${plainText(email.text ?? email.html ?? '')}`;
        });
        return;
      }
      const { getMessage } = await import('../../src/messages/messages.ts');
      const message = await getMessage(app, caller, id);
      await print(flags, message, async () => {
        const { card, table } = await import('../base/format.ts');
        const shown = shownMessage(message);
        const recipients = table(shown.recipients, recipientColumns);
        const note = capturedNote(message.deliveries);
        return [card(shown, messageCard), recipients, note].filter(Boolean).join('\n\n');
      });
    });
  }
}

const emailCard = [
  'subject',
  'fromEmail',
  'fromName',
  'toEmails',
  'ccEmails',
  'replyToEmails',
  'messageIdHeader',
  'inReplyTo',
  'spfVerdict',
  'dkimVerdict',
  'dmarcVerdict',
  'isAutoReply',
  'attachments.filename',
];
