// `svc mailboxes receive`: accepts a mail as if by SMTP (src/inbox/receiving/receive.ts) and puts
// it into a thread at once.
import { Flags } from '@oclif/core';
import type { App } from '../../src/core/app.ts';
import { BaseCommand } from '../base/command.ts';
import { readInput } from '../base/input/files.ts';
import { mailboxArg, mailboxIdFrom } from '../base/mail/mailbox-id.ts';
import { ExpectationError } from '../base/output/failure.ts';
import { printCard } from '../base/output/output.ts';
import { storeOf, withSession } from '../base/route.ts';

export default class MailboxesReceive extends BaseCommand {
  static override summary = 'Put a mail from standard input into a mailbox';

  static override description =
    'Does the same as the SMTP listener: checks the sender, stores, parses and threads ' +
    'the mail, and publishes its event. Ends with exit code 8 if the mail is refused.';

  static override examples = [
    {
      description: 'Receive a mail from a file',
      command: 'svc mailboxes receive mbx_06dq2k0qz8h3v5m1r9t4w7xy < mail.eml',
    },
  ];

  static override args = mailboxArg;

  static override flags = {
    from: Flags.string({
      description: 'Envelope sender (default: the null return path)',
      default: '',
      helpValue: 'ADDRESS',
    }),
  };

  async run(): Promise<void> {
    const { args: typed, flags } = await this.parse(MailboxesReceive);
    const raw = await readInput('-');
    await withSession(flags, async (session) => {
      const { app, caller } = await storeOf(session, 'Receiving a mail');
      const { getMailbox } = await import('../../src/identity/mailboxes/mailboxes.ts');
      const id = await mailboxIdFrom(session, typed.mailbox ?? '');
      const { primaryAddress } = await getMailbox(app, caller, id);
      const messageId = await receiveMail(app, primaryAddress, flags.from, raw);
      const message = await threaded(app, messageId);
      await printCard(flags, message, ['messageId', 'threadId', 'from', 'subject']);
    });
  }
}

/** Returns the mail with the line ends of SMTP (CRLF). */
function onTheWire(raw: Buffer): Buffer {
  return Buffer.from(raw.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1');
}

async function receiveMail(
  app: App,
  address: string,
  mailFrom: string,
  raw: Buffer,
): Promise<string> {
  const { receive } = await import('../../src/inbox/receiving/receive.ts');
  const { resolveAddressee } = await import('../../src/inbox/receiving/resolve.ts');
  const addressee = await resolveAddressee(app, address);
  if (addressee.kind === 'refused') {
    throw new ExpectationError(`the mail was refused: ${addressee.code} ${addressee.text}`);
  }
  const envelope = {
    mailFrom,
    addressees: [addressee],
    remoteAddress: '127.0.0.1',
    helo: 'localhost',
    tls: false,
    protocol: 'LMTP',
    id: `cli.${process.pid}`,
  };
  const result = await receive(app, envelope, onTheWire(raw));
  if (result.kind === 'stored') return result.messageIds[0] ?? '';
  throw new ExpectationError(`the mail was refused: ${result.code} ${result.text}`);
}

/** Assigns the message to a thread at once; a daemon does it soon after the SMTP reply 250. */
async function threaded(app: App, messageId: string) {
  const { findMessageRow } = await import('../../src/outbound/messages/queries.ts');
  const { finishProjection, readProjection } = await import(
    '../../src/outbound/messages/contents/projection.ts'
  );
  const { findThreadMessages } = await import('../../src/inbox/threads/queries.ts');
  const { db } = app.store;
  const row = await findMessageRow(db, messageId);
  if (!row) throw new Error(`${messageId} was stored and is not there`);
  await readProjection(app, row);
  await finishProjection(app, messageId, null);
  const [placed] = await findThreadMessages(db, [messageId]);
  const { from_email: from, subject } = row;
  return { messageId, threadId: placed?.thread_id ?? null, from, subject };
}
