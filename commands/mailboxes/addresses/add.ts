import { addAddressInput } from '../../../src/identity/mailboxes/schema.ts';
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
  body: addAddressInput,
  route: async () =>
    (await import('../../../src/identity/mailboxes/routes.ts')).mailboxRoutes.addAddress,
  card,
});
