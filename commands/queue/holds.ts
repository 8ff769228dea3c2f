// `svc queue holds`. src/outbound/queue/desk/holds.ts has the states of a hold.
import { tableFlags } from '../base/command.ts';
import { holdColumns, QueueCommand, withQueue } from '../base/mail/queue.ts';
import { printList } from '../base/output/output.ts';

export default class QueueHolds extends QueueCommand {
  static override summary = 'List the holds with their number of held deliveries';

  static override examples = [{ description: 'List all holds', command: 'svc queue holds' }];

  static override flags = tableFlags;

  async run(): Promise<void> {
    const { flags } = await this.parse(QueueHolds);
    await withQueue(flags, async ({ app, organizationId, flags: common }) => {
      const { listHolds } = await import('../../src/outbound/queue/desk/holds.ts');
      const holds = await listHolds(app, organizationId);
      await printList(
        { ...common, wide: flags.wide, columns: flags.columns },
        { items: holds },
        holdColumns,
        'No holds. Set one: svc queue hold --domain DOMAIN',
      );
    });
  }
}
