// `svc senders show` (contract 6). When a sender is verified: src/senders/senders.ts.
import { Args } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { senderCard } from '../base/fields.ts';
import { printCard } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class SendersShow extends BaseCommand {
  static override summary = 'Show a sender';

  static override examples = [
    { description: 'Is it verified?', command: 'svc senders show snd_06dq2k0qz8h3v5m1r9t4w7xy' },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the sender (snd_…)', required: true }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SendersShow);
    await withCaller(flags, async (app, caller) => {
      const { senderPath } = await import('../../src/senders/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const { id } = parseWith(senderPath, args, 'path');
      const { getSender } = await import('../../src/senders/senders.ts');
      await printCard(flags, await getSender(app, caller, id), senderCard);
    });
  }
}
