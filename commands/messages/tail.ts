// `svc messages tail`. src/history/events/follow.ts follows the log.
import { Flags } from '@oclif/core';
import type { LogItem } from '../../src/history/events/schema.ts';
import { BaseCommand } from '../base/command.ts';
import { jsonText } from '../base/input/json-text.ts';
import { rangeFrom, startFlag } from '../base/input/since.ts';
import { writeLine } from '../base/output/output.ts';
import { logLine, tailLog } from '../base/output/tail-log.ts';
import { withSession } from '../base/route.ts';

/** The data of a message in an event. */
interface Told {
  id: string;
  direction: 'inbound' | 'outbound';
  from?: { email: string };
  recipients?: readonly { email: string }[];
  subject?: string | null;
}

const arrow = { inbound: '<-', outbound: '->' } as const;

/** Returns the message in the first event; null for later events and deleted messages. */
function begun({ type, data }: LogItem): Told | null {
  const told = data as Partial<Told>;
  if (told.direction === undefined) return null;
  const isFirst =
    told.direction === 'inbound'
      ? type === 'message.delivered'
      : type === 'message.accepted' || type === 'message.scheduled';
  return isFirst ? (told as Told) : null;
}

function lineOf(
  timestamp: string,
  { id, direction, from, recipients = [], subject }: Told,
): string {
  const to = recipients.map(({ email }) => email).join(', ');
  return logLine([timestamp, id, from?.email ?? '', arrow[direction], to, subject ?? '']);
}

export default class MessagesTail extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Show messages as they are sent and received, until Ctrl-C';

  static override description =
    'Reads the store, with or without a running daemon. "svc events tail" shows their ' +
    'delivery.';

  static override examples = [
    { description: 'Show all mail', command: 'svc messages tail' },
    {
      description: 'Pass received mail to another program',
      command: 'svc messages tail --direction inbound --json | jq -r .id',
    },
  ];

  static override flags = {
    direction: Flags.string({
      description: 'Only received (inbound) or sent (outbound) messages',
      options: ['inbound', 'outbound'],
    }),
    ...startFlag('past and new messages'),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(MessagesTail);
    await withSession(flags, async (session) => {
      const { after } = rangeFrom(flags, session.now());
      await tailLog(session, { after }, (item) => {
        const message = begun(item);
        if (!message || (flags.direction ?? message.direction) !== message.direction) return;
        writeLine(flags.json ? jsonText(item.data, 0) : lineOf(item.timestamp, message));
      });
    });
  }
}
