import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Make a sender: an address that messages may come from',
  description:
    'It is verified at once when its domain is. Messages that name no sender come from the default.',
  examples: [
    [
      'The default from now on',
      'svc senders create --email shop@example.com --name "The shop" --default',
    ],
    [
      'Answers go elsewhere',
      'svc senders create --email news@example.com --reply-to office@example.com',
    ],
  ],
  flags: {
    email: Flags.string({ description: 'The address' }),
    name: Flags.string({ description: 'Name shown with it' }),
    default: Flags.boolean({ description: 'Make it the default sender' }),
    'reply-to': Flags.string({ description: 'Where answers go; may be repeated', multiple: true }),
    ...dataFlag,
  },
  fields: { default: 'isDefault', 'reply-to': 'replyToEmails' },
  route: async () => (await import('../../src/senders/routes.ts')).senderRoutes.create,
  card,
});
