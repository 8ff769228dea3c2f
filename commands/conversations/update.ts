import { conversationRoutes } from '../../src/people/conversations/routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  examples: [
    [
      'Make a conversation urgent',
      'svc conversations update conv_06dq2k0qz8h3v5m1r9t4w7xy --urgency urgent',
    ],
  ],
  args,
  route: conversationRoutes.update,
  card,
});
