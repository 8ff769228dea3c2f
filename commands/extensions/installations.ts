import { installationRoutes } from '../../src/extensions/installation-routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the installed extensions, newest first',
  examples: [
    ['List all installations', 'svc extensions installations'],
    ['List those whose webhook fails', 'svc extensions installations --status failing'],
  ],
  route: installationRoutes.list,
  columns: ['id', 'name', 'version.version', 'status', 'sendMode', 'permissions', 'events'],
  whenEmpty: 'No installations found. Install one: svc extensions install EXTENSION',
});
