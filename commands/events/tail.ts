// `svc events tail`. src/history/events/follow.ts follows the log.
import { Flags } from '@oclif/core';
import type { LogItem } from '../../src/history/events/schema.ts';
import { BaseCommand } from '../base/command.ts';
import { jsonText } from '../base/input/json-text.ts';
import { rangeFrom, startFlag } from '../base/input/since.ts';
import { writeLine } from '../base/output/output.ts';
import { logLine, tailLog } from '../base/output/tail-log.ts';
import { withSession } from '../base/route.ts';

/** Returns the parts of an event that fit into a line. */
function lineOf({ timestamp, type, data }: LogItem): string {
  const { event = {}, id = '', status, subject, domain, name } = data;
  const { recipient, errorCode, reply, url } = event as Record<string, unknown>;
  const words = [id, status, recipient, subject ?? domain ?? name, errorCode, reply, url];
  const said = words.filter((word) => typeof word === 'string' && word !== '');
  return logLine([timestamp, type.padEnd(18), ...said]);
}

export default class EventsTail extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Show events as they happen, until Ctrl-C';

  static override description =
    'Reads the store, with or without a running daemon. With --json each event is one ' +
    'line: the object of the API. "svc webhooks events" lists the kinds.';

  static override examples = [
    { description: 'Show all events', command: 'svc events tail' },
    {
      description: 'Pass bounces to another program',
      command: "svc events tail --type message.bounced --json | jq -r '.data.event.recipient'",
    },
    {
      description: 'Show the last ten minutes and all that follows',
      command: 'svc events tail --since 10m',
    },
  ];

  static override flags = {
    type: Flags.string({
      description: 'Only these kinds, separated by commas, such as message.*,domain.failed',
      helpValue: 'KIND',
    }),
    subject: Flags.string({
      description: 'Only events of this message or resource',
      helpValue: 'ID',
    }),
    ...startFlag('past and new events'),
    'last-event-id': Flags.string({
      description: 'Continue behind this event',
      helpValue: 'EVENT',
    }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(EventsTail);
    const { type, subject, 'last-event-id': lastEventId } = flags;
    await withSession(flags, async (session) => {
      const { after } = rangeFrom(flags, session.now());
      await tailLog(session, { type, subject, after, lastEventId }, (item) =>
        writeLine(flags.json ? jsonText(item, 0) : lineOf(item)),
      );
    });
  }
}
