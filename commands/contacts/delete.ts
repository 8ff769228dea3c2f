import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  summary: 'Delete a contact for good',
  description: 'Its blocks stay. Asks for confirmation on a terminal; elsewhere it needs --yes.',
  examples: [
    ['Delete a contact in a script', 'svc contacts delete contact_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  shows: async () => (await import('../../src/people/contacts/routes.ts')).contactRoutes.get,
  route: async () =>
    (await import('../../src/outbound/messages/forget/contact-routes.ts')).forgetRoutes.delete,
  question: ({ id, name }) => `Delete ${name ?? id} for good?`,
});
