import { listTemplatesQuery } from '../../src/content/templates/schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the templates, newest first',
  examples: [
    ['List all templates', 'svc templates list'],
    ['List the templates that can be sent', 'svc templates list --status published'],
  ],
  query: listTemplatesQuery,
  names: { familyId: 'family' },
  route: async () => (await import('../../src/content/templates/routes.ts')).templateRoutes.list,
  columns: ['id', 'slug', 'name', 'status', 'version', 'publishedAt'],
  whenEmpty: 'No templates found. Create one: svc templates create --slug SLUG --from DIR',
});
