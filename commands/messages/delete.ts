import { messageArg as args, messageIdFrom as find } from '../base/mail/message-id.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  summary: 'Delete a message and its content for good',
  description:
    'Its unsent deliveries are cancelled. Asks for confirmation on a terminal; elsewhere ' +
    'it needs --yes.',
  examples: [
    ['Delete a message in a script', 'svc messages delete msg_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  find,
  shows: async () => (await import('../../src/outbound/messages/routes.ts')).messageRoutes.get,
  route: async () => (await import('../../src/outbound/messages/routes.ts')).messageRoutes.delete,
  question: ({ id, status }) => `Delete the message ${id} (${status}) for good?`,
});
