import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the API keys of the organization, newest first',
  examples: [
    ['All keys, the revoked ones too', 'svc keys list'],
    ['Those of another organization', 'svc keys list --org acme --limit 100'],
  ],
  route: async () => (await import('../../src/keys/routes.ts')).keyRoutes.list,
  columns: ['id', 'name', 'start', 'roleName', 'isActive', 'lastUsedAt', 'expiresAt'],
  whenEmpty: 'No keys yet: svc keys create --name NAME',
});
