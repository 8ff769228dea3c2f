// `svc senders create` (contract 6). When a sender is verified: src/senders/senders.ts.
import { Flags } from '@oclif/core';
import { given, readData } from '../base/body.ts';
import { BaseCommand, dataFlag } from '../base/command.ts';
import { senderCard } from '../base/fields.ts';
import { printCard } from '../base/output.ts';
import { withCaller } from '../base/session.ts';

export default class SendersCreate extends BaseCommand {
  static override summary = 'Make a sender: an address that messages may come from';

  static override description =
    'It is verified at once when its domain is. Messages that name no sender come from the ' +
    'default.';

  static override examples = [
    {
      description: 'The default from now on',
      command: 'svc senders create --email shop@example.com --name "The shop" --default',
    },
    {
      description: 'Answers go elsewhere',
      command: 'svc senders create --email news@example.com --reply-to office@example.com',
    },
  ];

  static override flags = {
    email: Flags.string({ description: 'The address' }),
    name: Flags.string({ description: 'Name shown with it' }),
    default: Flags.boolean({ description: 'Make it the default sender' }),
    'reply-to': Flags.string({
      description: 'Where answers go; may be repeated',
      multiple: true,
    }),
    ...dataFlag,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(SendersCreate);
    const input = {
      ...(await readData(flags.data)),
      ...given({
        email: flags.email,
        name: flags.name,
        isDefault: flags.default || undefined,
        replyToEmails: flags['reply-to'],
      }),
    };
    await withCaller(flags, async (app, caller) => {
      const { createSender } = await import('../../src/senders/senders.ts');
      const { createSenderInput } = await import('../../src/senders/schema.ts');
      const { parseWith } = await import('../../src/api/validate.ts');
      const sender = await createSender(app, caller, parseWith(createSenderInput, input, 'body'));
      await printCard(flags, sender, senderCard);
    });
  }
}
