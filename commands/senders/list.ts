// `svc senders list` (contract 6). When a sender is verified: src/senders/senders.ts.
import { given } from '../base/body.ts';
import { BaseCommand, pageFlags } from '../base/command.ts';
import { senderColumns } from '../base/fields.ts';
import { printList } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class SendersList extends BaseCommand {
  static override summary = 'List the senders of the organization';

  static override examples = [
    { description: 'Who may send', command: 'svc senders list' },
    {
      description: 'The default',
      command: "svc senders list --json | jq '.items[] | select(.isDefault)'",
    },
  ];

  static override flags = { ...pageFlags };

  async run(): Promise<void> {
    const { flags } = await this.parse(SendersList);
    await withCaller(flags, async (app, caller) => {
      const { listSenders } = await import('../../src/senders/senders.ts');
      const { listSendersQuery } = await import('../../src/senders/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const { page, limit } = flags;
      const query = parseWith(listSendersQuery, given({ page, limit }), 'query');
      const senders = await listSenders(app, caller, query);
      await printList(
        flags,
        senders,
        senderColumns,
        'No senders yet: svc senders create --email A',
      );
    });
  }
}
