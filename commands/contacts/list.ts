import { Flags } from '@oclif/core';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List contacts, newest first',
  examples: [
    ['List the contacts with a tag', 'svc contacts list --tag customer'],
    ['List the contacts with bounced mail', 'svc contacts list --status bounced'],
    ['Find the contact with an address', 'svc contacts list --email ada@example.com'],
  ],
  flags: {
    tag: Flags.string({ description: 'Only contacts with this tag' }),
    email: Flags.string({ description: 'Only contacts with this address' }),
    q: Flags.string({ description: 'Only contacts with a name or address that begins so' }),
    status: Flags.string({
      description: 'Only this status: active, unsubscribed, bounced, complained or archived',
    }),
    'updated-since': Flags.string({
      description: 'Only contacts changed from this time on, ISO 8601',
    }),
    'external-id': Flags.string({ description: 'Only contacts with this id of your own' }),
  },
  route: async () => (await import('../../src/contacts/routes.ts')).contactRoutes.list,
  columns: ['id', 'name', 'identities.0.identifier', 'status', 'tags', 'createdAt'],
  whenEmpty: 'No contacts found. Create one: svc contacts create ada@example.com',
});
