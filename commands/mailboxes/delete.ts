import { mailboxRoutes } from '../../src/identity/mailboxes/routes.ts';
import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  description: 'Its addresses are free at once, and mail to them is refused.',
  examples: [
    ['Delete a mailbox for good', 'svc mailboxes delete mbx_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  shows: mailboxRoutes.get,
  route: mailboxRoutes.delete,
  question: ({ primaryAddress }) => `Delete the mailbox ${primaryAddress}?`,
});
