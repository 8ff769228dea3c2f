import { unsubscribeGroupRoutes } from '../../src/consent/opt-in/group-routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change an unsubscribe group: name, description, page',
  examples: [
    ['Rename a group', 'svc unsubscribe-groups update usg_06dq2k0qz8h3v5m1r9t4w7xy --name News'],
    [
      'List it on the page of every recipient',
      'svc unsubscribe-groups update usg_06dq2k0qz8h3v5m1r9t4w7xy --public',
    ],
  ],
  args,
  route: unsubscribeGroupRoutes.update,
  card,
});
