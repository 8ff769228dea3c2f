import { Flags } from '@oclif/core';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List contacts, newest first',
  examples: [
    ['With a tag', 'svc contacts list --tag customer'],
    ['Who is it?', 'svc contacts list --email ada@example.com'],
  ],
  flags: {
    tag: Flags.string({ description: 'Only with this tag' }),
    email: Flags.string({ description: 'Only with this address' }),
    'external-id': Flags.string({ description: 'Only with this id of your own' }),
  },
  route: async () => (await import('../../src/contacts/routes.ts')).contactRoutes.list,
  columns: ['id', 'name', 'identities.0.identifier', 'status', 'tags', 'createdAt'],
  whenEmpty: 'No such contacts: svc contacts create ada@example.com',
});
