import { extensionRoutes } from '../../src/extensions/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List own and public extensions, newest first',
  examples: [
    ['List all extensions', 'svc extensions list'],
    ['List those of the last week', 'svc extensions list --after 7d'],
  ],
  ages: ['after', 'since', 'before', 'until'],
  route: extensionRoutes.list,
  columns: ['id', 'name', 'displayName', 'runtime', 'latestVersion.version', 'isPublic'],
  whenEmpty: 'No extensions found. Create one: svc extensions create --name NAME',
});
