import { Flags } from '@oclif/core';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List contacts, newest first',
  examples: [
    ['With a tag', 'svc contacts list --tag customer'],
    ['Whom did mail bounce for?', 'svc contacts list --status bounced'],
    ['Who is it?', 'svc contacts list --email ada@example.com'],
  ],
  flags: {
    tag: Flags.string({ description: 'Only with this tag' }),
    email: Flags.string({ description: 'Only with this address' }),
    q: Flags.string({ description: 'Only who or whose address begins so' }),
    status: Flags.string({
      description: 'active, unsubscribed, bounced, complained or archived',
    }),
    'updated-since': Flags.string({ description: 'Only what changed then (ISO 8601) and later' }),
    'external-id': Flags.string({ description: 'Only with this id of your own' }),
  },
  route: async () => (await import('../../src/contacts/routes.ts')).contactRoutes.list,
  columns: ['id', 'name', 'identities.0.identifier', 'status', 'tags', 'createdAt'],
  whenEmpty: 'No such contacts: svc contacts create ada@example.com',
});
