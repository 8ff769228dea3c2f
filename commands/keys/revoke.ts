import { keyRoutes } from '../../src/access/keys/routes.ts';
import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  summary: 'Revoke an API key for good',
  examples: [['Revoke a key in a script', 'svc keys revoke key_06dq2k0qz8h3v5m1r9t4w7xy --yes']],
  args,
  shows: keyRoutes.get,
  route: keyRoutes.revoke,
  question: ({ name, start }) => `Revoke the key ${start}… (${name ?? 'no name'}) for good?`,
});
