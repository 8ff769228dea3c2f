import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  summary: 'Delete a mailbox',
  description: 'Its addresses are free at once, and mail to them is refused.',
  examples: [
    ['Delete a mailbox for good', 'svc mailboxes delete mbx_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  shows: async () => (await import('../../src/identity/mailboxes/routes.ts')).mailboxRoutes.get,
  route: async () => (await import('../../src/identity/mailboxes/routes.ts')).mailboxRoutes.delete,
  question: ({ primaryAddress }) => `Delete the mailbox ${primaryAddress}?`,
});
