import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  summary: 'Delete a conversation for good',
  description: 'Its messages stay. Asks for confirmation on a terminal; elsewhere it needs --yes.',
  examples: [
    [
      'Delete a conversation in a script',
      'svc conversations delete conv_06dq2k0qz8h3v5m1r9t4w7xy --yes',
    ],
  ],
  args,
  shows: async () =>
    (await import('../../src/people/conversations/routes.ts')).conversationRoutes.get,
  route: async () =>
    (await import('../../src/outbound/messages/forget/contact-routes.ts')).forgetRoutes
      .deleteConversation,
  question: ({ id, title, messageCount }) =>
    `Delete ${title ?? id} for good? Its ${messageCount} messages stay.`,
});
