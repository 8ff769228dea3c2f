import { messageRoutes } from '../../src/outbound/messages/routes.ts';
import { messageArg as args, messageIdFrom as find } from '../base/mail/message-id.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  summary: 'Delete a message and its content for good',
  description: 'Its unsent deliveries are cancelled.',
  examples: [
    ['Delete a message in a script', 'svc messages delete msg_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  find,
  shows: messageRoutes.get,
  route: messageRoutes.delete,
  question: ({ id, status }) => `Delete the message ${id} (${status}) for good?`,
});
