// `svc queue hold`. src/outbound/queue/desk/holds.ts has the states of a hold.
import { Args, Flags } from '@oclif/core';
import {
  domainFlag,
  holdColumns,
  holdTargetFrom,
  QueueCommand,
  unaskedFlag,
  walking,
  withQueue,
} from '../base/mail/queue.ts';
import { printCard } from '../base/output/output.ts';

export default class QueueHold extends QueueCommand {
  static override summary = 'Hold deliveries until they are released';

  static override description =
    'Holds the deliveries to a domain, of an organization, of both, or one message or ' +
    'delivery; later ones too. Attempts under way still end. Held deliveries still age: ' +
    'one released after its age limit gets one more attempt.';

  static override examples = [
    {
      description: 'Hold mail to a domain in trouble',
      command: 'svc queue hold --domain example.com --note "their disk is full"',
    },
    { description: 'Hold all mail of an organization', command: 'svc queue hold --org acme' },
    { description: 'Hold one message', command: 'svc queue hold msg_06dq2k0qz8h3v5m1r9t4w7xy' },
  ];

  static override args = {
    id: Args.string({
      description: 'Id of a delivery (dlv_…) or a message (msg_…)',
    }),
  };

  static override flags = {
    ...domainFlag,
    ...unaskedFlag,
    note: Flags.string({ description: 'Reason, shown in the list of holds' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(QueueHold);
    await withQueue(flags, async (session) => {
      const { holdQueue } = await import('../../src/outbound/queue/desk/holds.ts');
      const { holdNote } = await import('../../src/outbound/queue/desk/queue-schema.ts');
      const { parseWith } = await import('../../src/core/api/validate.ts');
      const target = await holdTargetFrom(session, args.id, flags.domain);
      const note = parseWith(holdNote, flags.note, 'body') ?? null;
      const hold = await walking(session, 'held', (tell) =>
        holdQueue(session.app, target, note, tell),
      );
      await printCard(session.flags, hold, holdColumns);
    });
  }
}
