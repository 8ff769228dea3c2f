import { mailboxRoutes } from '../../../src/identity/mailboxes/routes.ts';
import { updateCommand } from '../../base/verbs.ts';
import { args, card } from '../show.ts';

export default updateCommand({
  examples: [
    [
      'Add a second address',
      'svc mailboxes addresses add mbx_06dq2k0qz8h3v5m1r9t4w7xy --address help@example.com',
    ],
  ],
  args,
  route: mailboxRoutes.addAddress,
  card,
});
