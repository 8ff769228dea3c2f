// `svc senders update` (contract 6). When a sender is verified: src/senders/senders.ts.
import { Args, Flags } from '@oclif/core';
import { given, readData } from '../base/body.ts';
import { BaseCommand, dataFlag } from '../base/command.ts';
import { senderCard } from '../base/fields.ts';
import { printCard } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class SendersUpdate extends BaseCommand {
  static override summary = 'Change a sender: its name, where answers go, whether it may send';

  static override examples = [
    {
      description: 'Make it the default',
      command: 'svc senders update snd_06dq2k0qz8h3v5m1r9t4w7xy --default',
    },
    {
      description: 'It may not send for now',
      command: 'svc senders update snd_06dq2k0qz8h3v5m1r9t4w7xy --no-active',
    },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the sender (snd_…)', required: true }),
  };

  static override flags = {
    name: Flags.string({ description: 'New name' }),
    default: Flags.boolean({ description: 'Make it the default sender' }),
    active: Flags.boolean({ description: 'Whether it may send', allowNo: true }),
    'reply-to': Flags.string({
      description: 'Where answers go; may be repeated',
      multiple: true,
      multipleNonGreedy: true,
    }),
    ...dataFlag,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(SendersUpdate);
    const input = {
      ...(await readData(flags.data)),
      ...given({
        name: flags.name,
        isDefault: flags.default || undefined,
        isActive: flags.active,
        replyToEmails: flags['reply-to'],
      }),
    };
    await withCaller(flags, async (app, caller) => {
      const { senderPath, updateSenderInput } = await import('../../src/senders/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const { updateSender } = await import('../../src/senders/senders.ts');
      const { id } = parseWith(senderPath, args, 'path');
      const changes = parseWith(updateSenderInput, input, 'body');
      await printCard(flags, await updateSender(app, caller, id, changes), senderCard);
    });
  }
}
