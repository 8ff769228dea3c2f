import { Args, Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Make a contact',
  examples: [
    ['With a tag', 'svc contacts create ada@example.com --name Ada --tag customer'],
    ['Without an address', `svc contacts create --data '{"identities":[],"name":"Ada"}'`],
  ],
  args: { email: Args.string({ description: 'The address' }) },
  flags: {
    name: Flags.string({ description: 'Name' }),
    'external-id': Flags.string({ description: 'An id of your own' }),
    tag: Flags.string({ description: 'A tag; may be repeated', multiple: true }),
    ...dataFlag,
  },
  fields: { tag: 'tags' },
  route: async () => (await import('../../src/contacts/routes.ts')).contactRoutes.create,
  card,
});
