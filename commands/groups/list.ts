import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the groups of contacts, newest first',
  examples: [['All of them', 'svc groups list']],
  route: async () => (await import('../../src/contacts/groups/routes.ts')).contactGroupRoutes.list,
  columns: ['id', 'name', 'memberCount', 'createdAt'],
  whenEmpty: 'No groups yet: svc groups create --name NAME',
});
