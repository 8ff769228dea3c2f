import { listContactGroupsQuery } from '../../src/people/contacts/groups/schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the groups of contacts, newest first',
  examples: [['List all groups', 'svc groups list']],
  query: listContactGroupsQuery,
  route: async () =>
    (await import('../../src/people/contacts/groups/routes.ts')).contactGroupRoutes.list,
  columns: ['id', 'name', 'memberCount', 'createdAt'],
  whenEmpty: 'No groups found. Create one: svc groups create --name NAME',
});
