// `svc queue list`. src/outbound/queue/desk/queue.ts has the operation.
import { Flags } from '@oclif/core';
import { pageFlags, tableFlags } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import {
  countsLine,
  domainFlag,
  entriesText,
  QueueCommand,
  withQueue,
} from '../base/mail/queue.ts';
import { print } from '../base/output/output.ts';

export default class QueueList extends QueueCommand {
  static override summary = 'List queued deliveries, next to go first';

  static override description =
    'Lists all organizations, unless --org names one. Above the list it shows how many ' +
    'deliveries are ready, wait for their time, wait for room in a lane, are held, and ' +
    'are being attempted.';

  static override examples = [
    { description: 'List all deliveries', command: 'svc queue list' },
    {
      description: 'List the deliveries that a domain deferred',
      command: 'svc queue list --domain example.com --wait-reason retry',
    },
    {
      description: 'Print the messages of held deliveries',
      command: "svc queue list --status held --json | jq -r '.items[].messageId'",
    },
  ];

  static override flags = {
    status: Flags.string({
      description: 'Only this state: ready, waiting, in-lane, held or claimed',
    }),
    'wait-reason': Flags.string({
      description: 'Only this reason to wait: rate, retry, …',
      helpValue: 'REASON',
    }),
    lane: Flags.string({ description: 'Only deliveries that wait for room in this lane' }),
    ...domainFlag,
    ...pageFlags,
    ...tableFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(QueueList);
    await withQueue(flags, async ({ app, organizationId, flags: common }) => {
      const { listQueue } = await import('../../src/outbound/queue/desk/queue.ts');
      const { listQueueQuery } = await import('../../src/outbound/queue/desk/queue-schema.ts');
      const { parseWith } = await import('../../src/core/api/validate.ts');
      const query = given({
        organizationId,
        state: flags.status,
        waitReason: flags['wait-reason'],
        domain: flags.domain,
        lane: flags.lane,
        page: flags.page,
        limit: flags.limit,
      });
      const listed = await listQueue(app, parseWith(listQueueQuery, query, 'query'));
      await print(common, listed, async () => {
        const { items, pagination, counts } = listed;
        const { page, totalPages, total } = pagination;
        const parts = [countsLine(counts)];
        if (items.length > 0) parts.push(await entriesText(items, flags));
        if (totalPages > 1) parts.push(`Page ${page} of ${totalPages}, ${total} in all.`);
        return parts.join('\n\n');
      });
    });
  }
}
