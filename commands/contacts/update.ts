import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change a contact',
  examples: [
    ['Archive a contact', 'svc contacts update contact_06dq2k0qz8h3v5m1r9t4w7xy --status archived'],
  ],
  args,
  flags: {
    email: Flags.string({ description: 'New address; it replaces all others' }),
    name: Flags.string({ description: 'New name' }),
    'external-id': Flags.string({ description: 'Your own id of the contact' }),
    status: Flags.string({ description: 'New status: active or archived' }),
    ...dataFlag,
  },
  route: async () => (await import('../../src/contacts/routes.ts')).contactRoutes.update,
  card,
});
