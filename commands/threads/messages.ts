import { threadRoutes } from '../../src/inbox/threads/routes.ts';
import { threadArg as args, threadParams as find } from '../base/mail/thread.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [
    [
      'List the messages with their senders',
      'svc threads messages thread_06dq2k0qz8h3v5m1r9t4w7xy',
    ],
  ],
  args,
  find,
  route: threadRoutes.messages,
  columns: ['threadPosition', 'id', 'createdAt', 'from', 'kind', 'preview'],
  whenEmpty: 'This thread has no messages: it began with a draft',
});
