import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change the name, answer addresses or state of a sender',
  examples: [
    ['Make it the default sender', 'svc senders update snd_06dq2k0qz8h3v5m1r9t4w7xy --default'],
    ['Deactivate a sender for now', 'svc senders update snd_06dq2k0qz8h3v5m1r9t4w7xy --no-active'],
  ],
  args,
  flags: {
    name: Flags.string({ description: 'New display name' }),
    default: Flags.boolean({ description: 'Make it the default sender' }),
    active: Flags.boolean({ description: 'Allow it to send, or not', allowNo: true }),
    'reply-to': Flags.string({
      description: 'Address for answers (Reply-To); may be repeated',
      multiple: true,
      multipleNonGreedy: true,
    }),
    ...dataFlag,
  },
  fields: { default: 'isDefault', active: 'isActive', 'reply-to': 'replyToEmails' },
  route: async () => (await import('../../src/senders/routes.ts')).senderRoutes.update,
  card,
});
