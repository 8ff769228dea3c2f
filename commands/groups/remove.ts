import { contactGroupRoutes } from '../../src/people/contacts/groups/routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  examples: [
    [
      'Remove a contact',
      'svc groups remove grp_06dq2k0qz8h3v5m1r9t4w7xy --contact contact_06dq2k0qz8h3v5m1r9t4w7xy',
    ],
    [
      'Remove the contacts of a file',
      'svc groups remove grp_06dq2k0qz8h3v5m1r9t4w7xy --data @ids.json',
    ],
  ],
  args,
  names: { contactIds: 'contact' },
  route: contactGroupRoutes.remove,
  card,
});
