import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change a contact',
  examples: [
    ['Put away', 'svc contacts update contact_06dq2k0qz8h3v5m1r9t4w7xy --status archived'],
  ],
  args,
  flags: {
    email: Flags.string({ description: 'Its one address from now on' }),
    name: Flags.string({ description: 'New name' }),
    'external-id': Flags.string({ description: 'An id of your own' }),
    status: Flags.string({ description: 'active or archived' }),
    ...dataFlag,
  },
  route: async () => (await import('../../src/contacts/routes.ts')).contactRoutes.update,
  card,
});
