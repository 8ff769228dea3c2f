import { unsubscribeGroupRoutes } from '../../src/consent/opt-in/group-routes.ts';
import { idArg, showCommand } from '../base/verbs.ts';

export const card = ['id', 'name', 'description', 'public', 'confirm', 'createdAt', 'updatedAt'];
export const args = idArg('Id of the group (usg_…)');

export default showCommand({
  examples: [
    [
      'Show the name and description of a group',
      'svc unsubscribe-groups show usg_06dq2k0qz8h3v5m1r9t4w7xy',
    ],
  ],
  args,
  route: unsubscribeGroupRoutes.get,
  card,
});
