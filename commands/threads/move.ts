import { Args } from '@oclif/core';
import { threadRoutes } from '../../src/inbox/threads/routes.ts';
import { standingCard as card, threadParams as find, threadArg } from '../base/mail/thread.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Move a thread to a folder, or mark it',
  examples: [
    ['Archive a thread', 'svc threads move thread_06dq2k0qz8h3v5m1r9t4w7xy archive --read'],
  ],
  args: {
    ...threadArg,
    folder: Args.string({
      description: 'Folder: inbox, sent, archive, spam, trash or drafts (default: unchanged)',
    }),
  },
  find,
  names: { snoozedUntil: null },
  route: threadRoutes.update,
  card,
});
