// `svc threads delete`: to trash without a question; from there for good.
import { threadRoutes } from '../../src/inbox/threads/routes.ts';
import { threadArg as args, threadParams as find } from '../base/mail/thread.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  examples: [
    ['Delete a thread for good', 'svc threads delete thread_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  find,
  shows: threadRoutes.get,
  route: threadRoutes.delete,
  question: ({ folder, subject, messageCount }) =>
    folder === 'trash'
      ? `Delete "${subject ?? ''}" for good, with its ${messageCount} messages?`
      : null,
});
