import { unsubscribeGroupRoutes } from '../../src/consent/opt-in/group-routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [['List all groups', 'svc unsubscribe-groups list']],
  route: unsubscribeGroupRoutes.list,
  columns: ['id', 'name', 'description', 'public', 'confirm', 'createdAt'],
  whenEmpty: 'No unsubscribe groups found. Create one: svc unsubscribe-groups create --name NAME',
});
