import { Args } from '@oclif/core';
import { contactRoutes } from '../../src/people/contacts/routes.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  examples: [
    [
      'Create a contact with a tag',
      'svc contacts create ada@example.com --name Ada --tag customer',
    ],
    [
      'Create a contact without an address',
      `svc contacts create --data '{"identities":[],"name":"Ada"}'`,
    ],
  ],
  args: { email: Args.string({ description: 'Address of the contact' }) },
  route: contactRoutes.create,
  card,
});
