import { conversationRoutes } from '../../src/people/conversations/routes.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  examples: [
    [
      'Create a conversation with a tag',
      'svc conversations create --title "A late invoice" --tag billing',
    ],
    [
      'Create a conversation with more fields',
      `svc conversations create --data '{"urgency":"high","isPrivate":true}'`,
    ],
  ],
  route: conversationRoutes.create,
  card,
});
