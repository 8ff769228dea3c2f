import { unsubscribeGroupRoutes } from '../../src/consent/opt-in/group-routes.ts';
import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  description: 'Recipients who left the group stay blocked for it.',
  examples: [
    [
      'Delete a group in a script',
      'svc unsubscribe-groups delete usg_06dq2k0qz8h3v5m1r9t4w7xy --yes',
    ],
  ],
  args,
  shows: unsubscribeGroupRoutes.get,
  route: unsubscribeGroupRoutes.delete,
  question: ({ name }) => `Delete the unsubscribe group ${name} for good?`,
});
