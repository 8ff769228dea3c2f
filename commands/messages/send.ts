// `svc messages send` (specification 4.1). Messages themselves: src/messages/; their way out:
// src/sending/ and src/queue/.
import { Flags } from '@oclif/core';
import type { Caller } from '../../src/api/route.ts';
import type { App } from '../../src/app.ts';
import type { Message } from '../../src/messages/schema.ts';
import { readData } from '../base/body.ts';
import { BaseCommand, type CommonFlags, dataFlag } from '../base/command.ts';
import { wordOfNoDaemon } from '../base/daemon-word.ts';
import { ExpectationError, UsageError } from '../base/failure.ts';
import { messageCard } from '../base/fields.ts';
import { idempotencyKeyFrom } from '../base/idempotency-key.ts';
import { printCard, writeLine, writeWarning } from '../base/output.ts';
import { sendPayloadFrom } from '../base/send-payload.ts';
import { withCaller } from '../base/session.ts';

const several = { multiple: true } as const;
const scheduledCard = [...messageCard, 'scheduledFor'];
const goodEnds = ['sent', 'delivered', 'read'];

export default class MessagesSend extends BaseCommand {
  static override summary = 'Send a message';

  static override description =
    'It is stored durably and delivered by the daemon, now or when it runs again. With ' +
    '--wait the command follows it to the end: exit code 0 when it was sent or delivered, 8 ' +
    'when it failed, bounced or the time ran out. Without --from it comes from the default ' +
    'sender.';

  static override examples = [
    {
      description: 'To the mailbox that a new installation has',
      command:
        'svc messages send --to inbox@sandbox.test --subject Hello --text "It works." --wait',
    },
    {
      description: 'HTML and an attachment from files',
      command:
        'svc messages send --to "Ada <ada@example.com>" --subject Invoice --html @invoice.html --attach invoice.pdf',
    },
    {
      description: 'Tomorrow at nine, by the clock of this machine',
      command:
        'svc messages send --to ada@example.com --subject Hi --text Hi --scheduled-for "$(date -d "tomorrow 9:00" -Iseconds)"',
    },
    {
      description: 'The body of the API from standard input',
      command: 'svc messages send --data - < message.json',
    },
  ];

  static override flags = {
    to: Flags.string({
      description: 'Recipient; may be repeated',
      helpValue: 'ADDRESS',
      ...several,
    }),
    cc: Flags.string({ description: 'Copy; may be repeated', helpValue: 'ADDRESS', ...several }),
    bcc: Flags.string({
      description: 'Hidden copy; may be repeated',
      helpValue: 'ADDRESS',
      ...several,
    }),
    from: Flags.string({ description: 'A verified sender or domain', helpValue: 'ADDRESS' }),
    'reply-to': Flags.string({ description: 'Where answers go', helpValue: 'ADDRESS', ...several }),
    subject: Flags.string({ description: 'Subject' }),
    text: Flags.string({ description: 'Plain text, or @FILE' }),
    html: Flags.string({ description: 'HTML, or @FILE' }),
    attach: Flags.string({ description: 'File to attach', helpValue: 'FILE', ...several }),
    header: Flags.string({ description: 'Header', helpValue: 'NAME:VALUE', ...several }),
    tag: Flags.string({ description: 'Tag; may be repeated', ...several }),
    metadata: Flags.string({ description: 'Metadata', helpValue: 'KEY=VALUE', ...several }),
    'scheduled-for': Flags.string({
      description: 'Send it then: ISO 8601 with an offset, within a year',
      helpValue: 'TIME',
      exclusive: ['wait'],
    }),
    'idempotency-key': Flags.string({ description: 'Repeats with it return the first message' }),
    wait: Flags.boolean({ description: 'Follow the message until it is sent or has failed' }),
    timeout: Flags.string({
      description: 'Longest --wait in seconds; 0: for ever',
      default: '60',
      helpValue: 'SECONDS',
    }),
    ...dataFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(MessagesSend);
    const timeoutMs = timeoutFrom(flags.timeout);
    const idempotencyKey = idempotencyKeyFrom(flags['idempotency-key']);
    const scheduledFor = flags['scheduled-for'];
    const input = await sendPayloadFrom(await readData(flags.data), flags);
    await withCaller(flags, async (app, caller) => {
      if (scheduledFor !== undefined) {
        const message = await schedule(app, caller, { ...input, scheduledFor, idempotencyKey });
        await printCard(flags, message, scheduledCard);
        return;
      }
      const { sendMessage } = await import('../../src/sending/send.ts');
      const { sendPayload } = await import('../../src/messages/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const payload = parseWith(sendPayload, input, 'body');
      const message = await sendMessage(app, caller, payload, idempotencyKey);
      if (flags.wait) await follow(app, caller, message, flags, timeoutMs);
      else await printCard(flags, message, messageCard, (await wordOfNoDaemon(app)) ?? '');
    });
  }
}

async function schedule(app: App, caller: Caller, input: object): Promise<Message> {
  const { scheduleMessage } = await import('../../src/sending/schedule.ts');
  const { scheduledPayload } = await import('../../src/messages/schema.ts');
  const { parseWith } = await import('../../src/api/validate.ts');
  return scheduleMessage(app, caller, parseWith(scheduledPayload, input, 'body'));
}

function timeoutFrom(text: string): number | undefined {
  const seconds = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`--timeout ${text}: expected seconds`);
  return seconds === 0 ? undefined : seconds * 1000;
}

async function follow(
  app: App,
  caller: Caller,
  { id }: Message,
  flags: CommonFlags,
  timeoutMs: number | undefined,
): Promise<void> {
  const { followMessage, settledStatuses } = await import('../base/follow.ts');
  const { getMessage } = await import('../../src/messages/messages.ts');
  const startedAt = app.clock.now();
  const word = await wordOfNoDaemon(app);
  if (word) writeWarning(word);
  const message = await followMessage(app, () => getMessage(app, caller, id), {
    timeoutMs,
    onStatus({ status }) {
      const seconds = ((app.clock.now() - startedAt) / 1000).toFixed(1).padStart(6);
      if (!flags.json) writeLine(`${seconds} s  ${status}`);
    },
  });
  if (!flags.json) writeLine('');
  await printCard(flags, message, messageCard);
  if (goodEnds.includes(message.status)) return;
  const why = message.deliveries.map(({ errorMessage }) => errorMessage).find(Boolean) ?? '';
  const isOver = settledStatuses.includes(message.status);
  const noDaemon = (await wordOfNoDaemon(app)) ? ': no daemon runs' : '';
  const state = isOver ? message.status : `is still ${message.status}${noDaemon}`;
  throw new ExpectationError(`${id} ${state}${why && `: ${why}`}`);
}
