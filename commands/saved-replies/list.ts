import { savedReplyRoutes } from '../../src/inbox/saved-replies/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [['List all saved replies', 'svc saved-replies list']],
  route: savedReplyRoutes.list,
  columns: ['id', 'name', 'text', 'updatedAt'],
  whenEmpty: 'No saved replies found. Create one: svc saved-replies create --name NAME --text TEXT',
});
