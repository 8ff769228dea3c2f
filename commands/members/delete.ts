import { memberRoutes } from '../../src/access/members/routes.ts';
import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  summary: 'Remove a member from the organization',
  description: 'The sessions of the person here end. Keys that the member made stay.',
  examples: [
    ['Remove a member in a script', 'svc members delete mem_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  shows: memberRoutes.get,
  route: memberRoutes.delete,
  question: ({ email }) => `Remove ${email} from the organization?`,
});
