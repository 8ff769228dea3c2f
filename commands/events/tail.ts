// `svc events tail`. src/history/events/follow.ts follows the log.
import { Flags } from '@oclif/core';
import type { LogItem, TailLog } from '../../src/history/events/schema.ts';
import { BaseCommand } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import { jsonText } from '../base/input/json-text.ts';
import { rangeFrom, startFlag } from '../base/input/since.ts';
import { writeLine } from '../base/output/output.ts';
import { logLine, tailLog } from '../base/output/tail-log.ts';
import { withCaller } from '../base/session.ts';

/** Returns the parts of an event that fit into a line. */
function lineOf({ timestamp, type, data }: LogItem): string {
  const { event = {}, id = '', status, subject, domain, name } = data;
  const { recipient, errorCode, reply, url } = event as Record<string, unknown>;
  const words = [id, status, recipient, subject ?? domain ?? name, errorCode, reply, url];
  const said = words.filter((word) => typeof word === 'string' && word !== '');
  return logLine([timestamp, type.padEnd(18), ...said]);
}

export default class EventsTail extends BaseCommand {
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
    await withCaller(flags, async (app, caller) => {
      const { after } = rangeFrom(flags, app.clock.now());
      const { parseParts } = await import('../../src/core/api/validate.ts');
      const { boundsOf } = await import('../../src/core/api/resource-schema.ts');
      const schema = await import('../../src/history/events/schema.ts');
      const query = {
        schema: schema.tailQuery,
        value: given({ type, subject, after, lastEventId }),
      };
      const wanted = parseParts({ query }).query as TailLog;
      const following = {
        types: wanted.type,
        subject: wanted.subject,
        since: boundsOf(wanted).from,
        after: wanted.lastEventId,
      };
      await tailLog(app, caller, following, (item) =>
        writeLine(flags.json ? jsonText(item, 0) : lineOf(item)),
      );
    });
  }
}
