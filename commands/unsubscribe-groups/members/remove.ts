import { membersInput } from '../../../src/consent/opt-in/schema.ts';
import { updateCommand } from '../../base/verbs.ts';
import { args } from '../show.ts';

export default updateCommand({
  summary: 'Remove contacts from a double opt-in group',
  description: 'They get no campaign of the group until they confirm again.',
  examples: [
    [
      'Remove a contact',
      'svc unsubscribe-groups members remove usg_06dq2k0qz8h3v5m1r9t4w7xy --contact contact_06dq2k0qz8h3v5m1r9t4w7xy',
    ],
  ],
  args,
  body: membersInput,
  names: { contactIds: 'contact' },
  route: async () => (await import('../../../src/consent/opt-in/routes.ts')).memberRoutes.remove,
  card: ['removed'],
});
