// `svc queue drop`. src/outbound/queue/desk/queue.ts has the operation.

import type { QueueSelection } from '../../src/outbound/queue/desk/queue-schema.ts';
import { yesFlag } from '../base/command.ts';
import { confirmed } from '../base/input/ask.ts';
import {
  deliveriesWord,
  entriesText,
  idsArg,
  QueueCommand,
  type QueueSession,
  selectionFlags,
  selectionFrom,
  walking,
  withQueue,
} from '../base/mail/queue.ts';
import { print } from '../base/output/output.ts';

export default class QueueDrop extends QueueCommand {
  static override summary = 'Drop deliveries from the queue for good, unsent';

  static override description =
    'They end as failed, with the error code cancelled. An attempt under way cannot be ' +
    'stopped: by id that is a conflict. --domain, --older-than and --all leave out those, ' +
    'and deliveries scheduled for later. Asks for confirmation on a terminal; elsewhere it ' +
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
    {
      description: 'Count the deliveries to a domain that would be dropped',
      command: 'svc queue drop --domain example.com --older-than 1h --dry-run',
    },
  ];

  static override args = idsArg;

  static override flags = { ...selectionFlags, ...yesFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(QueueDrop);
    await withQueue(flags, async (session) => {
      const given = args.ids ?? [];
      const selection = await selectionFrom(session, given, flags);
      if (selection) return dropAll(session, selection, flags['dry-run'], flags.yes);
      const { dropDeliveries } = await import('../../src/outbound/queue/desk/queue.ts');
      const { queueIds } = await import('../../src/outbound/queue/desk/queue-schema.ts');
      const { idsInStore, parseTyped } = await import('../base/input/whole-id.ts');
      const { app, organizationId } = session;
      const ids = await parseTyped(idsInStore(app, organizationId), queueIds, given, 'path');
      await confirmed(`Drop ${ids.join(', ')} unsent, for good?`, flags.yes);
      const items = await dropDeliveries(app, ids, organizationId);
      await print(session.flags, { items }, () => entriesText(items));
    });
  }
}

async function dropAll(
  session: QueueSession,
  selection: QueueSelection,
  isDryRun: boolean,
  yes: boolean,
): Promise<void> {
  const { app, flags } = session;
  const { countSelected, dropSelected } = await import(
    '../../src/outbound/queue/desk/selection.ts'
  );
  const selected = await countSelected(app, selection, 'drop');
  if (isDryRun) {
    return print(flags, { selected }, () => `Would drop ${deliveriesWord(selected)}.`);
  }
  await confirmed(`Drop ${deliveriesWord(selected)} unsent, for good?`, yes);
  const result = await walking(session, 'dropped', (tell) => dropSelected(app, selection, tell));
  await print(flags, result, () => `Dropped: ${deliveriesWord(result.dropped)}`);
}
