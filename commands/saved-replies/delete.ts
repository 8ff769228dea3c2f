import { savedReplyRoutes } from '../../src/inbox/saved-replies/routes.ts';
import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  examples: [
    ['Delete an answer in a script', 'svc saved-replies delete rpl_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  shows: savedReplyRoutes.get,
  route: savedReplyRoutes.delete,
  question: ({ name }) => `Delete the saved reply ${name} for good?`,
});
