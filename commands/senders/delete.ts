// `svc senders delete` (contract 6). When a sender is verified: src/senders/senders.ts.
import { Args } from '@oclif/core';
import { BaseCommand, yesFlag } from '../base/command.ts';
import { confirmed } from '../base/confirm.ts';
import { print } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class SendersDelete extends BaseCommand {
  static override summary = 'Delete a sender for good';

  static override description = 'Asks first on a terminal; elsewhere it needs --yes.';

  static override examples = [
    {
      description: 'In a script',
      command: 'svc senders delete snd_06dq2k0qz8h3v5m1r9t4w7xy --yes',
    },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the sender (snd_…)', required: true }),
  };

  static override flags = { ...yesFlag };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SendersDelete);
    await withCaller(flags, async (app, caller) => {
      const { senderPath } = await import('../../src/senders/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const { deleteSender, getSender } = await import('../../src/senders/senders.ts');
      const { id } = parseWith(senderPath, args, 'path');
      const { email } = await getSender(app, caller, id);
      await confirmed(`Delete the sender ${email} for good?`, flags.yes);
      const deleted = await deleteSender(app, caller, id);
      await print(flags, deleted, () => deleted.message);
    });
  }
}
