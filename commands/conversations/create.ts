import { createConversationInput } from '../../src/people/conversations/schema.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Create a conversation',
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
  body: createConversationInput,
  route: async () =>
    (await import('../../src/people/conversations/routes.ts')).conversationRoutes.create,
  card,
});
