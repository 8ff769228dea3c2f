// `svc events verify`. src/receipts/verify-log.ts compares the events.
import { BaseCommand } from '../base/command.ts';
import { ExpectationError } from '../base/output/failure.ts';
import { print } from '../base/output/output.ts';
import { startProgress } from '../base/output/progress.ts';
import { withCaller } from '../base/session.ts';

export default class EventsVerify extends BaseCommand {
  static override summary = 'Check that no event was changed since it was sealed';

  static override description =
    'Hashes all events of the organization anew, and compares them with the sealed log up to ' +
    'its signed head. Names each event that was changed, and ends with exit code 8. Of deleted ' +
    'messages only hashes are kept.';

  static override examples = [
    { description: 'Check the events', command: 'svc events verify' },
    {
      description: 'Print the ids of changed events',
      command: "svc events verify --json | jq -r '.changed[].id'",
    },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(EventsVerify);
    await withCaller(flags, async (app, caller) => {
      const { sealLog } = await import('../../src/receipts/seal.ts');
      const { verifyLog } = await import('../../src/receipts/verify-log.ts');
      await sealLog(app, caller.organizationId);
      const progress = await startProgress(flags, 'checked');
      const state = await verifyLog(app, caller.organizationId, progress.update);
      progress.stop();
      const { changed, problems, ...rest } = state;
      await print(flags, state, async () => {
        const { card, table } = await import('../base/output/format.ts');
        const { sound, deleted, erased, unsealed, head } = rest;
        const about = { sound, deleted, erased, unsealed, head: head?.root, at: head?.at };
        const parts = [card(about, Object.keys(about))];
        if (changed.length > 0) parts.push(table(changed, ['id', 'type', 'subject', 'timestamp']));
        return [...parts, ...problems].join('\n\n');
      });
      if (changed.length === 0 && problems.length === 0) return;
      const count = changed.length === 1 ? '1 event was' : `${changed.length} events were`;
      const words = changed.length === 0 ? problems.join('; ') : `${count} changed`;
      throw new ExpectationError(`the log is not the one that was sealed: ${words}`);
    });
  }
}
