import { familyRoutes } from '../../src/content/families/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [['List all families', 'svc families list']],
  route: familyRoutes.list,
  columns: ['id', 'name', 'members.slug', 'createdAt'],
  whenEmpty: 'No families found. Create one: svc families create --name NAME',
});
