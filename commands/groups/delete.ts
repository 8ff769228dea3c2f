import { contactGroupRoutes } from '../../src/people/contacts/groups/routes.ts';
import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  examples: [
    ['Delete a group in a script', 'svc groups delete grp_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  shows: contactGroupRoutes.get,
  route: contactGroupRoutes.delete,
  question: ({ name }) => `Delete the group ${name} for good?`,
});
