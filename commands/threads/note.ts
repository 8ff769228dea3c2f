import { Flags } from '@oclif/core';
import { noteRoutes } from '../../src/inbox/threads/routes.ts';
import { given, textFrom } from '../base/input/body.ts';
import { threadArg as args, threadParams as find } from '../base/mail/thread.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  examples: [
    [
      'Write a note for the next person',
      'svc threads note thread_06dq2k0qz8h3v5m1r9t4w7xy --body "Waits for the invoice"',
    ],
  ],
  args,
  find,
  flags: {
    body: Flags.string({ description: 'Text of the note, @FILE, or - for standard input' }),
  },
  more: async ({ body }) => given({ body: await textFrom(body as string | undefined) }),
  route: noteRoutes.create,
  card: ['id', 'author.kind', 'author.displayName', 'body', 'color', 'pinned', 'createdAt'],
});
