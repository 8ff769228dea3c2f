import { conversationRoutes } from '../../src/people/conversations/routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  examples: [['Add a tag', 'svc conversations tag conv_06dq2k0qz8h3v5m1r9t4w7xy --tag billing']],
  args,
  route: conversationRoutes.tag,
  card,
});
