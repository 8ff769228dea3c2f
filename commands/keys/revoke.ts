import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  summary: 'Revoke an API key for good',
  description:
    'Every daemon refuses the key within a second. Asks for confirmation on a terminal; ' +
    'elsewhere it needs --yes.',
  examples: [['Revoke a key in a script', 'svc keys revoke key_06dq2k0qz8h3v5m1r9t4w7xy --yes']],
  args,
  shows: async () => (await import('../../src/access/keys/routes.ts')).keyRoutes.get,
  route: async () => (await import('../../src/access/keys/routes.ts')).keyRoutes.revoke,
  question: ({ name, start }) => `Revoke the key ${start}… (${name ?? 'no name'}) for good?`,
});
