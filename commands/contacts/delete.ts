import { forgetRoutes } from '../../src/outbound/messages/forget/contact-routes.ts';
import { contactRoutes } from '../../src/people/contacts/routes.ts';
import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  examples: [
    ['Delete a contact in a script', 'svc contacts delete contact_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  shows: contactRoutes.get,
  route: forgetRoutes.delete,
  question: ({ id, name }) => `Delete ${name ?? id} for good?`,
});
