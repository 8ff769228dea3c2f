import { brandRoutes } from '../../src/content/brands/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [['List all brands', 'svc brands list']],
  route: brandRoutes.list,
  columns: ['id', 'slug', 'name', 'isDefault', 'createdAt'],
  whenEmpty: 'No brands found. Create one: svc brands create --slug SLUG --name NAME',
});
