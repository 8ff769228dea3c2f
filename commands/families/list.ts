import { listFamiliesQuery } from '../../src/content/families/schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the families of templates, newest first',
  examples: [['List all families', 'svc families list']],
  query: listFamiliesQuery,
  route: async () => (await import('../../src/content/families/routes.ts')).familyRoutes.list,
  columns: ['id', 'name', 'members.slug', 'createdAt'],
  whenEmpty: 'No families found. Create one: svc families create --name NAME',
});
