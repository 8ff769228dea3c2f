import { memberRoutes } from '../../src/access/members/routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Let a disabled member sign in again',
  examples: [['Let a member in again', 'svc members enable mem_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  names: { name: null, role: null, status: null },
  more: () => ({ status: 'active' }),
  route: memberRoutes.update,
  card,
});
