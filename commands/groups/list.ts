import { contactGroupRoutes } from '../../src/people/contacts/groups/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [['List all groups', 'svc groups list']],
  route: contactGroupRoutes.list,
  columns: ['id', 'name', 'memberCount', 'createdAt'],
  whenEmpty: 'No groups found. Create one: svc groups create --name NAME',
});
