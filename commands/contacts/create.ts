import { Args, Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Create a contact',
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
  flags: {
    name: Flags.string({ description: 'Name of the contact' }),
    'external-id': Flags.string({ description: 'Your own id of the contact' }),
    tag: Flags.string({ description: 'Tag of the contact; may be repeated', multiple: true }),
    ...dataFlag,
  },
  fields: { tag: 'tags' },
  route: async () => (await import('../../src/contacts/routes.ts')).contactRoutes.create,
  card,
});
