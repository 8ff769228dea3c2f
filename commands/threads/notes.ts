import { noteRoutes } from '../../src/inbox/threads/routes.ts';
import { threadArg as args, threadParams as find } from '../base/mail/thread.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [
    ['List the notes with their authors', 'svc threads notes thread_06dq2k0qz8h3v5m1r9t4w7xy'],
  ],
  args,
  find,
  route: noteRoutes.list,
  columns: ['id', 'createdAt', 'author.displayName', 'color', 'pinned', 'body'],
  whenEmpty: 'No notes yet. Write one: svc threads note THREAD --body TEXT',
});
