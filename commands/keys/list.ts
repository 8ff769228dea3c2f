import { keyRoutes } from '../../src/access/keys/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [
    ['List all keys, the revoked ones too', 'svc keys list'],
    ['List the keys of another organization', 'svc keys list --org acme --limit 100'],
  ],
  route: keyRoutes.list,
  columns: ['id', 'name', 'start', 'roleName', 'isActive', 'lastUsedAt', 'expiresAt'],
  whenEmpty: 'No keys found. Create one: svc keys create --name NAME',
});
