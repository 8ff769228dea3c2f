import { memberRoutes } from '../../src/access/members/routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'End the sessions of a member here, and let none begin',
  examples: [['Lock a member out for now', 'svc members disable mem_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  names: { name: null, role: null, status: null },
  more: () => ({ status: 'disabled' }),
  route: memberRoutes.update,
  card,
});
