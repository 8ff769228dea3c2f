// `svc queue release`. src/outbound/queue/desk/holds.ts has the states of a hold.
import { Args } from '@oclif/core';
import {
  domainFlag,
  holdTargetFrom,
  QueueCommand,
  walking,
  withQueue,
} from '../base/mail/queue.ts';
import { print } from '../base/output/output.ts';

export default class QueueRelease extends QueueCommand {
  static override summary = 'Release a hold: its deliveries are due now';

  static override description =
    'Takes the id of the hold, or the delivery, message, domain or organization of "svc ' +
    'queue hold". Deliveries under another hold stay held.';

  static override examples = [
    {
      description: 'Release a hold by its domain',
      command: 'svc queue release --domain example.com',
    },
    {
      description: 'Release a hold by its id',
      command: 'svc queue release hold_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = {
    id: Args.string({
      description: 'Id of the hold (hold_…), or of the held delivery or message',
    }),
  };

  static override flags = { ...domainFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(QueueRelease);
    await withQueue(flags, async (session) => {
      const { releaseHold } = await import('../../src/outbound/queue/desk/holds.ts');
      const { holdId } = await import('../../src/outbound/queue/desk/queue-schema.ts');
      const { parseWith } = await import('../../src/core/api/validate.ts');
      const { idsInStore, wholeId } = await import('../base/input/whole-id.ts');
      const kinds = ['hold', 'delivery', 'message'] as const;
      const id =
        args.id && (await wholeId(idsInStore(session.app, session.organizationId), kinds, args.id));
      const target = id?.startsWith('hold_')
        ? { holdId: parseWith(holdId, id, 'path') }
        : await holdTargetFrom(session, id, flags.domain);
      const result = await walking(session, 'released', (tell) =>
        releaseHold(session.app, target, tell),
      );
      await print(
        session.flags,
        result,
        () => `${result.id} is released: ${result.released} due now`,
      );
    });
  }
}
