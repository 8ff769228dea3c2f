import { savedReplyRoutes } from '../../src/inbox/saved-replies/routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card, words } from './show.ts';

export default updateCommand({
  examples: [
    ['Rename an answer', 'svc saved-replies update rpl_06dq2k0qz8h3v5m1r9t4w7xy --name Hours'],
  ],
  args,
  ...words,
  route: savedReplyRoutes.update,
  card,
});
