// `svc messages show`: a message, the content, or the bytes of the mail.
import { Flags } from '@oclif/core';
import type { EmailProjection } from '../../src/outbound/messages/email-schema.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import type { Session } from '../base/asking.ts';
import { BaseCommand } from '../base/command.ts';
import { messageCard, recipientColumns } from '../base/input/fields.ts';
import { messageArg, messageIdFrom } from '../base/mail/message-id.ts';
import { fateWords, shownMessage } from '../base/mail/message-view.ts';
import { print, writeBytes, writeNote } from '../base/output/output.ts';
import { storeOf, withSession } from '../base/route.ts';

export default class MessagesShow extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Show a message with its recipients';

  static override description =
    '--email shows its content: parsed header fields, text and attachments. --raw and ' +
    '--attachment write the bytes unchanged, for a file or another program. Each recipient ' +
    'of a sent message has a copy: --raw writes the one that left for --recipient, with its ' +
    'links, tokens and signature, or as it would leave if it has not.';

  static override examples = [
    {
      description: 'Show the status of a message',
      command: 'svc messages show msg_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    {
      description: 'Show the content of a message',
      command: 'svc messages show msg_06dq2k0qz8h3v5m1r9t4w7xy --email',
    },
    {
      description: 'Write the mail as it left, signed',
      command: 'svc messages show @last --raw > mail.eml',
    },
    {
      description: 'Write the copy of one recipient',
      command: 'svc messages show @last --raw --recipient ada@example.com > mail.eml',
    },
    {
      description: 'Write the first attachment to a file',
      command: 'svc messages show @last --attachment 1 > invoice.pdf',
    },
  ];

  static override args = messageArg;

  static override flags = {
    email: Flags.boolean({ description: 'Show the content of the email' }),
    raw: Flags.boolean({
      description: 'Write the raw mail (RFC 5322)',
      exclusive: ['email', 'attachment', 'json'],
    }),
    recipient: Flags.string({
      description: 'With --raw: the copy of this recipient (default: the first)',
      helpValue: 'ADDRESS',
      dependsOn: ['raw'],
    }),
    attachment: Flags.integer({
      description: 'Write this attachment, counted from 1',
      helpValue: 'N',
      min: 1,
      exclusive: ['email', 'json'],
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(MessagesShow);
    await withSession(flags, async (session) => {
      const id = await messageIdFrom(session, args.id);
      if (flags.raw) return writeRaw(session, id, flags.recipient);
      if (flags.attachment !== undefined) {
        return writeAttachment(session, id, flags.attachment);
      }
      const { messageRoutes } = await import('../../src/outbound/messages/routes.ts');
      const params = { id };
      if (flags.email) {
        const email = await session.ask(messageRoutes.email, { params });
        return print(flags, email, () => emailText(email));
      }
      const message = await session.ask(messageRoutes.get, { params });
      await print(flags, message, () => textOf(message));
    });
  }
}

async function writeRaw(session: Session, id: string, recipient: string | undefined) {
  const { readRawMail } = await import('../../src/outbound/sending/stored-parts.ts');
  const { app, caller } = await storeOf(session, '--raw');
  const mail = await readRawMail(app, caller, id, recipient);
  const { copies = 1, missingKeys = [] } = mail;
  if (recipient === undefined && copies > 1) {
    writeNote(`The copy of ${mail.recipient}, one of ${copies}: choose with --recipient`);
  }
  if (missingKeys.length > 0) {
    writeNote(`Without the signatures of deleted keys: ${missingKeys.join(', ')}`);
  }
  await writeBytes(mail.body);
}

async function writeAttachment(session: Session, id: string, number: number) {
  const { readAttachment } = await import('../../src/outbound/sending/stored-parts.ts');
  const { app, caller } = await storeOf(session, '--attachment');
  await writeBytes(await readAttachment(app, caller, id, number));
}

async function textOf(message: Message): Promise<string> {
  const { card, table } = await import('../base/output/format.ts');
  const shown = shownMessage(message);
  const recipients = table(shown.recipients, recipientColumns);
  const note = fateWords(message.deliveries);
  return [card(shown, messageCard), recipients, note].filter(Boolean).join('\n\n');
}

async function emailText(email: EmailProjection): Promise<string> {
  const [{ card, plainText }, { wordsOf }] = await Promise.all([
    import('../base/output/format.ts'),
    import('../base/review/mail-text.ts'),
  ]);
  return `${card(email, emailCard)}\n\n${plainText(wordsOf(email))}`;
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
  'arcVerdict',
  'isAutoReply',
  'attachments.filename',
];
