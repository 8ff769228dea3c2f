import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  summary: 'Delete an unsubscribe group; its blocks stay',
  description:
    'Recipients who left the group stay blocked for it. Asks for confirmation on a ' +
    'terminal; elsewhere it needs --yes.',
  examples: [
    [
      'Delete a group in a script',
      'svc unsubscribe-groups delete usg_06dq2k0qz8h3v5m1r9t4w7xy --yes',
    ],
  ],
  args,
  shows: async () =>
    (await import('../../src/consent/opt-in/group-routes.ts')).unsubscribeGroupRoutes.get,
  route: async () =>
    (await import('../../src/consent/opt-in/group-routes.ts')).unsubscribeGroupRoutes.delete,
  question: ({ name }) => `Delete the unsubscribe group ${name} for good?`,
});
