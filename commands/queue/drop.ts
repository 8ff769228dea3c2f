// `svc queue drop`. The queue: src/outbound/queue/desk/queue.ts.

import { confirmed } from '../base/ask.ts';
import { yesFlag } from '../base/command.ts';
import { print } from '../base/output.ts';
import { entriesText, idsArg, QueueCommand, withQueue } from '../base/queue.ts';

export default class QueueDrop extends QueueCommand {
  static override summary = 'Drop deliveries from the queue for good, unsent';

  static override description =
    'They end as failed, with the error code cancelled. An attempt under way cannot be ' +
    'stopped: that is a conflict. Asks for confirmation on a terminal; elsewhere it ' +
    'needs --yes.';

  static override examples = [
    {
      description: 'Drop a delivery in a script',
      command: 'svc queue drop dlv_06dq2k0qz8h3v5m1r9t4w7xy --yes',
    },
    {
      description: 'Drop all recipients of a message',
      command: 'svc queue drop msg_06dq2k0qz8h3v5m1r9t4w7xy --yes',
    },
  ];

  static override args = idsArg;

  static override flags = { ...yesFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(QueueDrop);
    await withQueue(flags, async ({ app, organizationId, flags: common }) => {
      const { dropDeliveries } = await import('../../src/outbound/queue/desk/queue.ts');
      const { queueIds } = await import('../../src/outbound/queue/desk/queue-schema.ts');
      const { parseTyped } = await import('../base/whole-id.ts');
      const ids = await parseTyped(app, organizationId, queueIds, args.ids, 'path');
      await confirmed(`Drop ${ids.join(', ')} unsent, for good?`, flags.yes);
      const items = await dropDeliveries(app, ids, organizationId);
      await print(common, { items }, () => entriesText(items));
    });
  }
}
