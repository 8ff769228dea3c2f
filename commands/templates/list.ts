import { templateRoutes } from '../../src/content/templates/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [
    ['List all templates', 'svc templates list'],
    ['List the templates that can be sent', 'svc templates list --status published'],
  ],
  names: { familyId: 'family' },
  route: templateRoutes.list,
  columns: ['id', 'slug', 'name', 'status', 'version', 'publishedAt'],
  whenEmpty: 'No templates found. Create one: svc templates create --slug SLUG --from DIR',
});
