import { conversationRoutes } from '../../src/people/conversations/routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  examples: [
    ['Reopen a conversation by its id', 'svc conversations reopen conv_06dq2k0qz8h3v5m1r9t4w7xy'],
  ],
  args,
  names: { statusReason: 'reason' },
  route: conversationRoutes.reopen,
  card,
});
