// `svc groups members`: the contacts of a group.
import { contactGroupRoutes } from '../../src/people/contacts/groups/routes.ts';
import { listCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default listCommand({
  examples: [['List the first 20 members', 'svc groups members grp_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  route: contactGroupRoutes.members,
  columns: ['id', 'name', 'identities.0.identifier', 'status', 'tags'],
  whenEmpty:
    'This group has no members. Without a query, add one: svc groups add GROUP --contact ID',
});
