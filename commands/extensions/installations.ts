import { listInstallationsQuery } from '../../src/extensions/installation-schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the installed extensions, newest first',
  examples: [
    ['List all installations', 'svc extensions installations'],
    ['List those whose webhook fails', 'svc extensions installations --status failing'],
  ],
  query: listInstallationsQuery,
  route: async () =>
    (await import('../../src/extensions/installation-routes.ts')).installationRoutes.list,
  columns: ['id', 'name', 'version.version', 'status', 'sendMode', 'permissions', 'events'],
  whenEmpty: 'No installations found. Install one: svc extensions install EXTENSION',
});
