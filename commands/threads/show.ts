import { threadRoutes } from '../../src/inbox/threads/routes.ts';
import { threadArg as args, threadParams as find, threadCard } from '../base/mail/thread.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  examples: [['Show the state of a thread', 'svc threads show thread_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  find,
  route: threadRoutes.get,
  card: threadCard,
});
