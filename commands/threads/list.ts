// `svc threads list`. src/inbox/threads/list-queries.ts has filters and order.

import { Flags } from '@oclif/core';
import { threadRoutes } from '../../src/inbox/threads/routes.ts';
import { mailboxArg as args, mailboxIdFrom as find } from '../base/mail/mailbox-id.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  description:
    'Without --folder it lists all folders except spam and trash. A message matches --q ' +
    'if it has all of its terms: words, "a phrase", from:ada, subject:plan, ' +
    'has:attachment, wor*.',
  examples: [
    ['List received threads', 'svc threads list inbox@sandbox.test --unread'],
    ['Search by sender and word', 'svc threads list --q "from:ada invoice"'],
  ],
  args,
  find,
  flags: {
    q: Flags.string({
      description: 'Search words in subject, sender and text',
      helpValue: 'WORDS',
    }),
  },
  ages: ['after', 'since', 'before', 'until'],
  route: threadRoutes.list,
  columns: [
    ...['id', 'lastActivityAt', 'from.address', 'subject', 'messageCount', 'folder'],
    ...['read', 'labels'],
  ],
  whenEmpty: 'No threads found. Other mailboxes: svc mailboxes list',
});
