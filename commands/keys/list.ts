import { listKeysQuery } from '../../src/access/keys/schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the API keys, newest first',
  examples: [
    ['List all keys, the revoked ones too', 'svc keys list'],
    ['List the keys of another organization', 'svc keys list --org acme --limit 100'],
  ],
  query: listKeysQuery,
  route: async () => (await import('../../src/access/keys/routes.ts')).keyRoutes.list,
  columns: ['id', 'name', 'start', 'roleName', 'isActive', 'lastUsedAt', 'expiresAt'],
  whenEmpty: 'No keys found. Create one: svc keys create --name NAME',
});
