import { contactGroupRoutes } from '../../src/people/contacts/groups/routes.ts';
import { idArg, showCommand } from '../base/verbs.ts';

export const card = [
  ...['id', 'name', 'description', 'query', 'memberCount'],
  ...['createdAt', 'updatedAt'],
];
export const args = idArg('Id of the group (grp_…)');

export default showCommand({
  examples: [['Show the number of members', 'svc groups show grp_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  route: contactGroupRoutes.get,
  card,
});
