import { listCommand } from '../../../../commands/base/verbs.ts';
import { labelRoutes } from '../routes.ts';

export default listCommand({
  route: labelRoutes.list,
  examples: [['List all labels', 'svc labels list']],
  columns: ['id', 'name', 'color', 'isPinned', 'createdAt'],
  whenEmpty: 'No labels found. Create one: svc labels create --name NAME',
});
