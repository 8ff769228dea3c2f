import { memberRoutes } from '../../../src/consent/opt-in/routes.ts';
import { updateCommand } from '../../base/verbs.ts';
import { args } from '../show.ts';

export default updateCommand({
  summary: 'Remove contacts from a double opt-in group',
  examples: [
    [
      'Remove a contact',
      'svc unsubscribe-groups members remove usg_06dq2k0qz8h3v5m1r9t4w7xy --contact contact_06dq2k0qz8h3v5m1r9t4w7xy',
    ],
  ],
  args,
  names: { contactIds: 'contact' },
  route: memberRoutes.remove,
  card: ['removed'],
});
