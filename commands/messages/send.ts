// `svc messages send`: now, later, or followed to the end (body: base/mail/send-payload.ts).
import { Flags } from '@oclif/core';
import type { DryRunResult, Message } from '../../src/outbound/messages/schema.ts';
import type { Session } from '../base/asking.ts';
import { BaseCommand, type CommonFlags, dataFlag } from '../base/command.ts';
import { wordOfNoDaemon } from '../base/daemon-word.ts';
import { given, readData } from '../base/input/body.ts';
import { printDryRun } from '../base/input/dry-run.ts';
import { messageCard } from '../base/input/fields.ts';
import { idempotencyHeader } from '../base/input/idempotency-key.ts';
import { timeoutFlag, timeoutFrom } from '../base/input/timeout.ts';
import { printMessage } from '../base/mail/message-view.ts';
import { sendPayloadFrom } from '../base/mail/send-payload.ts';
import { ExpectationError } from '../base/output/failure.ts';
import { writeInterrupted, writeLine, writeWarning } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';
import { beforeInterrupt } from '../base/signals.ts';

const several = { multiple: true } as const;
const scheduledCard = [...messageCard, 'scheduledFor'];
const badEnds = ['failed', 'bounced'];

export default class MessagesSend extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Send a message';

  static override description =
    'Stores the message durably; the daemon delivers it, now or when it runs again. With ' +
    '--wait the command follows it to the end and prints a line for each step of each ' +
    'recipient: exit code 0 if all were sent or delivered, 8 if one failed or bounced or ' +
    'the time ran out. Without --from the default sender is used.';

  static override examples = [
    {
      description: 'Send to the mailbox of a new installation',
      command:
        'svc messages send --to inbox@sandbox.test --subject Hello --text "It works." --wait',
    },
    {
      description: 'Send HTML and an attachment from files',
      command:
        'svc messages send --to "Ada <ada@example.com>" --subject Invoice --html @invoice.html --attach invoice.pdf',
    },
    {
      description: 'Send tomorrow at nine, by the clock of this machine',
      command:
        'svc messages send --to ada@example.com --subject Hi --text Hi --scheduled-for "$(date -d "tomorrow 9:00" -Iseconds)"',
    },
    {
      description: 'Send a template with values from a file',
      command: 'svc messages send --to ada@example.com --template welcome --data @ada.json',
    },
    {
      description: 'Send a body of the API from standard input',
      command: 'svc messages send --data - < message.json',
    },
  ];

  static override flags = {
    to: Flags.string({
      description: 'Recipient (To); may be repeated',
      helpValue: 'ADDRESS',
      ...several,
    }),
    cc: Flags.string({
      description: 'Recipient of a copy (Cc); may be repeated',
      helpValue: 'ADDRESS',
      ...several,
    }),
    bcc: Flags.string({
      description: 'Recipient of a blind copy (Bcc); may be repeated',
      helpValue: 'ADDRESS',
      ...several,
    }),
    from: Flags.string({
      description: 'From address: a verified sender, or on a verified domain',
      helpValue: 'ADDRESS',
    }),
    'reply-to': Flags.string({
      description: 'Address for answers (Reply-To)',
      helpValue: 'ADDRESS',
      ...several,
    }),
    subject: Flags.string({ description: 'Subject of the message' }),
    text: Flags.string({ description: 'Plain text, @FILE, or - for standard input' }),
    html: Flags.string({ description: 'HTML, @FILE, or - for standard input' }),
    attach: Flags.string({
      description: 'File to attach; may be repeated',
      helpValue: 'FILE',
      ...several,
    }),
    header: Flags.string({
      description: 'Header field; may be repeated',
      helpValue: 'NAME:VALUE',
      ...several,
    }),
    tag: Flags.string({ description: 'Tag of the message; may be repeated', ...several }),
    conversation: Flags.string({ description: 'Conversation of the message', helpValue: 'ID' }),
    'unsubscribe-group': Flags.string({
      description: 'Unsubscribe group, which recipients can leave',
      helpValue: 'ID',
    }),
    metadata: Flags.string({
      description: 'Metadata of the message; may be repeated',
      helpValue: 'KEY=VALUE',
      ...several,
    }),
    'track-opens': Flags.boolean({
      description: 'Track opens of the HTML (default: setting of the organization)',
      allowNo: true,
    }),
    'track-clicks': Flags.boolean({
      description: 'Track clicks on links (default: setting of the organization)',
      allowNo: true,
    }),
    template: Flags.string({
      description: 'Published template; --data then gives its values',
      helpValue: 'SLUG',
      exclusive: ['subject', 'text', 'html'],
    }),
    'dry-run': Flags.boolean({
      description: 'Show what would be sent and refused; send nothing',
      exclusive: ['wait', 'scheduled-for'],
    }),
    'scheduled-for': Flags.string({
      description: 'Send at this time: ISO 8601 with an offset, within a year',
      helpValue: 'TIME',
      exclusive: ['wait'],
    }),
    'idempotency-key': Flags.string({
      description: 'Idempotency key: a repeat with it returns the first message',
    }),
    wait: Flags.boolean({ description: 'Follow the message until it is sent or has failed' }),
    timeout: timeoutFlag('60s'),
    ...dataFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(MessagesSend);
    const timeoutMs = timeoutFrom(flags.timeout ?? '60s');
    const idempotencyKey = flags['idempotency-key'];
    const headers = idempotencyHeader(idempotencyKey);
    const scheduledFor = flags['scheduled-for'];
    const input = await sendPayloadFrom(await readData(flags.data), flags);
    await withSession(flags, async (session) => {
      const { sendingRoutes } = await import('../../src/outbound/sending/routes.ts');
      if (scheduledFor !== undefined) {
        const body = { ...input, scheduledFor, ...given({ idempotencyKey }) };
        const message = await session.ask(sendingRoutes.schedule, { body });
        return printMessage(flags, message, scheduledCard);
      }
      if (flags['dry-run']) {
        const body = { ...input, dryRun: true };
        const result: unknown = await session.ask(sendingRoutes.send, { body });
        return printDryRun(flags, result as DryRunResult);
      }
      const message = await session.ask(sendingRoutes.send, { headers, body: input });
      if (flags.wait) await follow(session, message, flags, timeoutMs);
      else await printMessage(flags, message, messageCard, (await wordOfNoDaemon(session)) ?? '');
    });
  }
}

async function follow(
  session: Session,
  { id }: Message,
  flags: CommonFlags,
  timeoutMs: number | undefined,
): Promise<void> {
  const { followMessage, recipientLines, settledStatuses } = await import(
    '../base/output/follow.ts'
  );
  const { get } = (await import('../../src/outbound/messages/routes.ts')).messageRoutes;
  const read = () => session.ask(get, { params: { id } });
  const startedAt = session.now();
  const word = await wordOfNoDaemon(session);
  if (word) writeWarning(word);
  const linesOf = recipientLines();
  let status = 'pending';
  const words = () =>
    `interrupted: ${id} is ${status}; the daemon delivers it without this command. ` +
    `Follow it: svc messages show ${id}`;
  const forget = beforeInterrupt(() => writeInterrupted(flags, words(), { messageId: id }));
  const message = await followMessage(session, read, {
    timeoutMs,
    onRead(found) {
      status = found.status;
      if (flags.json) return;
      const now = session.now();
      const seconds = ((now - startedAt) / 1000).toFixed(1).padStart(6);
      for (const line of linesOf(found, now)) writeLine(`${seconds} s  ${line}`);
    },
  }).finally(forget);
  if (!flags.json) writeLine('');
  await printMessage(flags, message, messageCard);
  if (!settledStatuses.includes(message.status)) {
    const noDaemon = (await wordOfNoDaemon(session)) ? ': no daemon runs' : '';
    throw new ExpectationError(`${id} is still ${message.status}${noDaemon}`);
  }
  const bad = message.deliveries.filter((one) => badEnds.includes(one.status));
  if (bad.length === 0) return;
  const why = bad.map(({ errorMessage }) => errorMessage).find(Boolean) ?? '';
  const isSole = bad.length === 1 && message.deliveries.length === 1;
  const what = isSole
    ? message.status
    : `failed for ${bad.length} of ${message.deliveries.length} recipients`;
  throw new ExpectationError(`${id} ${what}${why && `: ${why}`}`);
}
