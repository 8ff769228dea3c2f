// `svc queue holds`. Holds: src/queue/desk/holds.ts.
import { printList } from '../base/output.ts';
import { holdColumns, QueueCommand, withQueue } from '../base/queue.ts';

export default class QueueHolds extends QueueCommand {
  static override summary = 'List what is held, and how many deliveries wait for it';

  static override examples = [{ description: 'What is held', command: 'svc queue holds' }];

  async run(): Promise<void> {
    const { flags } = await this.parse(QueueHolds);
    await withQueue(flags, async ({ app, organizationId, flags: common }) => {
      const { listHolds } = await import('../../src/queue/desk/holds.ts');
      const holds = await listHolds(app, organizationId);
      await printList(common, { items: holds }, holdColumns, 'Nothing is held.');
    });
  }
}
