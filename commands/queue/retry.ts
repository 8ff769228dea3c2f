// `svc queue retry`. src/outbound/queue/desk/queue.ts has the operation.
import type { QueueSelection } from '../../src/outbound/queue/desk/queue-schema.ts';
import {
  deliveriesWord,
  entriesText,
  idsArg,
  QueueCommand,
  type QueueSession,
  selectionFlags,
  selectionFrom,
  unaskedFlag,
  walking,
  withQueue,
} from '../base/mail/queue.ts';
import { print } from '../base/output/output.ts';

export default class QueueRetry extends QueueCommand {
  static override summary = 'Make deliveries due now';

  static override description =
    'Takes all named ones or none: a delivery that has ended, is held or is scheduled for ' +
    'later is a conflict. --domain, --older-than and --all leave those out. A delivery to a ' +
    'full or closed lane waits for that lane again.';

  static override examples = [
    {
      description: 'Retry once the server of a recipient is back',
      command: 'svc queue retry dlv_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    {
      description: 'Retry all recipients of a message',
      command: 'svc queue retry msg_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    {
      description: 'Retry what has waited for an hour',
      command: 'svc queue retry --older-than 1h',
    },
  ];

  static override args = idsArg;

  static override flags = { ...selectionFlags, ...unaskedFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(QueueRetry);
    await withQueue(flags, async (session) => {
      const given = args.ids ?? [];
      const selection = await selectionFrom(session, given, flags);
      if (selection) return retryAll(session, selection, flags['dry-run']);
      const { retryDeliveries } = await import('../../src/outbound/queue/desk/queue.ts');
      const { queueIds } = await import('../../src/outbound/queue/desk/queue-schema.ts');
      const { idsInStore, parseTyped } = await import('../base/input/whole-id.ts');
      const { app, organizationId } = session;
      const ids = await parseTyped(idsInStore(app, organizationId), queueIds, given, 'path');
      const items = await retryDeliveries(app, ids, organizationId);
      await print(session.flags, { items }, () => entriesText(items));
    });
  }
}

async function retryAll(
  session: QueueSession,
  selection: QueueSelection,
  isDryRun: boolean,
): Promise<void> {
  const { app, flags } = session;
  if (isDryRun) {
    const { countSelected } = await import('../../src/outbound/queue/desk/selection.ts');
    const selected = await countSelected(app, selection, 'retry');
    return print(flags, { selected }, () => `Would retry ${deliveriesWord(selected)}.`);
  }
  const { flushQueue } = await import('../../src/outbound/queue/desk/queue.ts');
  const { flushed } = await walking(session, 'retried', (tell) => flushQueue(app, selection, tell));
  await print(flags, { retried: flushed }, () => `Due now: ${deliveriesWord(flushed)}`);
}
