import { listGroupsQuery } from '../../src/people/unsubscribe-groups/schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the unsubscribe groups of the organization',
  examples: [['List all groups', 'svc unsubscribe-groups list']],
  query: listGroupsQuery,
  route: async () =>
    (await import('../../src/consent/opt-in/group-routes.ts')).unsubscribeGroupRoutes.list,
  columns: ['id', 'name', 'description', 'public', 'confirm', 'createdAt'],
  whenEmpty: 'No unsubscribe groups found. Create one: svc unsubscribe-groups create --name NAME',
});
