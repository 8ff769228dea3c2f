import { forgetRoutes } from '../../src/outbound/messages/forget/contact-routes.ts';
import { conversationRoutes } from '../../src/people/conversations/routes.ts';
import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  examples: [
    [
      'Delete a conversation in a script',
      'svc conversations delete conv_06dq2k0qz8h3v5m1r9t4w7xy --yes',
    ],
  ],
  args,
  shows: conversationRoutes.get,
  route: forgetRoutes.deleteConversation,
  question: ({ id, title, messageCount }) =>
    `Delete ${title ?? id} for good? Its ${messageCount} messages stay.`,
});
