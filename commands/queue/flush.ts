// `svc queue flush`. src/outbound/queue/desk/queue.ts has the operation.
import { given } from '../base/input/body.ts';
import { domainFlag, QueueCommand, walking, withQueue } from '../base/mail/queue.ts';
import { print } from '../base/output/output.ts';

export default class QueueFlush extends QueueCommand {
  static override summary = 'Make all waiting deliveries due now';

  static override description =
    'Gives each organization fair turns. Leaves out held deliveries, and those scheduled ' +
    'for later. Lanes keep their limits.';

  static override examples = [
    { description: 'Retry after our own network was down', command: 'svc queue flush' },
    {
      description: 'Retry after the server of a domain was down',
      command: 'svc queue flush --domain example.com',
    },
  ];

  static override flags = { ...domainFlag };

  async run(): Promise<void> {
    const { flags } = await this.parse(QueueFlush);
    await withQueue(flags, async (session) => {
      const { flushQueue } = await import('../../src/outbound/queue/desk/queue.ts');
      const { queueScope } = await import('../../src/outbound/queue/desk/queue-schema.ts');
      const { parseWith } = await import('../../src/core/api/validate.ts');
      const { app, organizationId } = session;
      const scope = parseWith(queueScope, given({ organizationId, domain: flags.domain }), 'query');
      const result = await walking(session, 'flushed', (tell) => flushQueue(app, scope, tell));
      await print(session.flags, result, () =>
        result.flushed === 0 ? 'No delivery waits.' : `Due now: ${result.flushed}`,
      );
    });
  }
}
