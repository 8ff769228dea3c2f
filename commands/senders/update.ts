import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change a sender: its name, where answers go, whether it may send',
  examples: [
    ['Make it the default', 'svc senders update snd_06dq2k0qz8h3v5m1r9t4w7xy --default'],
    ['It may not send for now', 'svc senders update snd_06dq2k0qz8h3v5m1r9t4w7xy --no-active'],
  ],
  args,
  flags: {
    name: Flags.string({ description: 'New name' }),
    default: Flags.boolean({ description: 'Make it the default sender' }),
    active: Flags.boolean({ description: 'Whether it may send', allowNo: true }),
    'reply-to': Flags.string({
      description: 'Where answers go; may be repeated',
      multiple: true,
      multipleNonGreedy: true,
    }),
    ...dataFlag,
  },
  fields: { default: 'isDefault', active: 'isActive', 'reply-to': 'replyToEmails' },
  route: async () => (await import('../../src/senders/routes.ts')).senderRoutes.update,
  card,
});
