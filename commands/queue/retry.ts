// `svc queue retry`. The queue: src/outbound/queue/desk/queue.ts.
import { print } from '../base/output.ts';
import { entriesText, idsArg, QueueCommand, withQueue } from '../base/queue.ts';

export default class QueueRetry extends QueueCommand {
  static override summary = 'Make the named deliveries due now';

  static override description =
    'Takes all of them or none: a delivery that has ended, is held or is scheduled for ' +
    'later is a conflict. A delivery to a full or closed lane waits for that lane again.';

  static override examples = [
    {
      description: 'Retry once the server of a recipient is back',
      command: 'svc queue retry dlv_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    {
      description: 'Retry all recipients of a message',
      command: 'svc queue retry msg_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = idsArg;

  async run(): Promise<void> {
    const { args, flags } = await this.parse(QueueRetry);
    await withQueue(flags, async ({ app, organizationId, flags: common }) => {
      const { retryDeliveries } = await import('../../src/outbound/queue/desk/queue.ts');
      const { queueIds } = await import('../../src/outbound/queue/desk/queue-schema.ts');
      const { parseTyped } = await import('../base/whole-id.ts');
      const ids = await parseTyped(app, organizationId, queueIds, args.ids, 'path');
      const items = await retryDeliveries(app, ids, organizationId);
      await print(common, { items }, () => entriesText(items));
    });
  }
}
