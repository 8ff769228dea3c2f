import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  summary: 'Delete an unsubscribe group; who left it stays blocked for it',
  description: 'Asks first on a terminal; elsewhere it needs --yes.',
  examples: [['In a script', 'svc unsubscribe-groups delete usg_06dq2k0qz8h3v5m1r9t4w7xy --yes']],
  args,
  shows: async () =>
    (await import('../../src/unsubscribe-groups/routes.ts')).unsubscribeGroupRoutes.get,
  route: async () =>
    (await import('../../src/unsubscribe-groups/routes.ts')).unsubscribeGroupRoutes.delete,
  question: ({ name }) => `Delete the unsubscribe group ${name} for good?`,
});
