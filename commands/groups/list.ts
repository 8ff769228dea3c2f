import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the groups of contacts, newest first',
  examples: [['List all groups', 'svc groups list']],
  route: async () => (await import('../../src/contacts/groups/routes.ts')).contactGroupRoutes.list,
  columns: ['id', 'name', 'memberCount', 'createdAt'],
  whenEmpty: 'No groups found. Create one: svc groups create --name NAME',
});
