import { listBrandsQuery } from '../../src/content/brands/schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the brands of the organization',
  examples: [['List all brands', 'svc brands list']],
  query: listBrandsQuery,
  route: async () => (await import('../../src/content/brands/routes.ts')).brandRoutes.list,
  columns: ['id', 'slug', 'name', 'isDefault', 'createdAt'],
  whenEmpty: 'No brands found. Create one: svc brands create --slug SLUG --name NAME',
});
