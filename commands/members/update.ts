import { memberRoutes } from '../../src/access/members/routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change the name, role or status of a member',
  examples: [
    ['Make a member an admin', 'svc members update mem_06dq2k0qz8h3v5m1r9t4w7xy --role admin'],
  ],
  args,
  route: memberRoutes.update,
  card,
});
