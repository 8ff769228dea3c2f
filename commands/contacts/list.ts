import { contactRoutes } from '../../src/people/contacts/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [
    ['List the contacts with a tag', 'svc contacts list --tag customer'],
    ['List the contacts with bounced mail', 'svc contacts list --status bounced'],
    ['Find the contact with an address', 'svc contacts list --email ada@example.com'],
  ],
  route: contactRoutes.list,
  columns: ['id', 'name', 'identities.identifier', 'status', 'tags', 'createdAt'],
  whenEmpty: 'No contacts found. Create one: svc contacts create ada@example.com',
});
