import { contactGroupRoutes } from '../../src/people/contacts/groups/routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { queryFlag, queryOf } from './create.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change the name, description or query of a group of contacts',
  examples: [['Rename a group', 'svc groups update grp_06dq2k0qz8h3v5m1r9t4w7xy --name Others']],
  args,
  flags: queryFlag,
  more: queryOf,
  route: contactGroupRoutes.update,
  card,
});
