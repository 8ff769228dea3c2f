import { updateConversationInput } from '../../src/people/conversations/schema.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change a conversation',
  examples: [
    [
      'Make a conversation urgent',
      'svc conversations update conv_06dq2k0qz8h3v5m1r9t4w7xy --urgency urgent',
    ],
  ],
  args,
  body: updateConversationInput,
  route: async () =>
    (await import('../../src/people/conversations/routes.ts')).conversationRoutes.update,
  card,
});
