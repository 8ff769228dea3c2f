// `svc messages tail`. How the log is followed: src/events/follow.ts.
import { Flags } from '@oclif/core';
import type { LogItem } from '../../src/events/schema.ts';
import { BaseCommand } from '../base/command.ts';
import { writeLine } from '../base/output.ts';
import { withCaller } from '../base/session.ts';
import { timeFrom } from '../base/since.ts';

/** What an event tells of its message. */
interface Told {
  id: string;
  direction: 'inbound' | 'outbound';
  from?: { email: string };
  recipients?: readonly { email: string }[];
  subject?: string | null;
}

const arrow = { inbound: '<-', outbound: '->' } as const;

/** The message where its first event is this; null of all later steps, and of what is gone. */
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
  const words = [timestamp, id, from?.email ?? '', arrow[direction], to, subject ?? ''];
  // What a remote side said must not move the cursor.
  return words.join('  ').replace(/\p{C}+/gu, ' ');
}

export default class MessagesTail extends BaseCommand {
  static override summary = 'Show messages as they are sent and come in, until Ctrl-C';

  static override description =
    'Reads the store, whether or not a daemon runs. What becomes of them: svc events tail.';

  static override examples = [
    { description: 'All mail', command: 'svc messages tail' },
    {
      description: 'What comes in, for another program',
      command: 'svc messages tail --direction inbound --json | jq -r .id',
    },
  ];

  static override flags = {
    direction: Flags.string({
      description: 'Only what came in, or what was sent',
      options: ['inbound', 'outbound'],
    }),
    since: Flags.string({ description: 'Also those since: 90s, 10m, 1h, 7d, or an instant' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(MessagesTail);
    await withCaller(flags, async (app, { organizationId }) => {
      const since = timeFrom('--since', flags.since, app.clock.now());
      const { followLog } = await import('../../src/events/follow.ts');
      const { presentEntry } = await import('../../src/events/log.ts');
      const from = since === undefined ? undefined : Date.parse(since);
      const never = new AbortController().signal;
      // Clock timers do not keep a process alive, and here nothing else would.
      const alive = setInterval(() => {}, 60_000);
      try {
        for await (const entry of await followLog(app, organizationId, { since: from }, never)) {
          const item = await presentEntry(app, entry);
          const message = begun(item);
          if (!message || (flags.direction ?? message.direction) !== message.direction) continue;
          writeLine(flags.json ? JSON.stringify(item.data) : lineOf(item.timestamp, message));
        }
      } finally {
        clearInterval(alive);
      }
    });
  }
}
