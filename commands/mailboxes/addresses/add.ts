import { Flags } from '@oclif/core';
import { updateCommand } from '../../base/verbs.ts';
import { args, card } from '../show.ts';

export default updateCommand({
  summary: 'Add an address to a mailbox',
  examples: [
    [
      'Add a second address',
      'svc mailboxes addresses add mbx_06dq2k0qz8h3v5m1r9t4w7xy --address help@example.com',
    ],
  ],
  args,
  flags: {
    address: Flags.string({
      description: 'Address on a verified domain, or on the hosted one',
      required: true,
    }),
    'display-name': Flags.string({ description: 'Display name of the address' }),
  },
  route: async () => (await import('../../../src/mailboxes/routes.ts')).mailboxRoutes.addAddress,
  card,
});
