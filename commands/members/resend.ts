import { memberRoutes } from '../../src/access/members/routes.ts';
import { showCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default showCommand({
  description:
    'The earlier link is void. A member who was away for 90 days gets a link to sign in.',
  examples: [['Mail the invitation again', 'svc members resend mem_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  route: memberRoutes.resend,
  card,
});
