import { Flags } from '@oclif/core';
import { updateCommand } from '../../base/verbs.ts';
import { args, card } from '../show.ts';

export default updateCommand({
  summary: 'Give a mailbox one more address',
  examples: [
    [
      'Both reach it',
      'svc mailboxes addresses add mbx_06dq2k0qz8h3v5m1r9t4w7xy --address help@example.com',
    ],
  ],
  args,
  flags: {
    address: Flags.string({
      description: 'On a verified domain, or the hosted one',
      required: true,
    }),
    'display-name': Flags.string({ description: 'Name shown with it' }),
  },
  route: async () => (await import('../../../src/mailboxes/routes.ts')).mailboxRoutes.addAddress,
  card,
});
