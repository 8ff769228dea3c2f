// `svc threads list`. Filters and order: src/threads/list-queries.ts, search.ts.
import { Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { mailboxArg, mailboxIdFrom } from '../base/mailbox-id.ts';
import { printList } from '../base/output.ts';
import { runRoute } from '../base/route.ts';
import { withCaller } from '../base/session.ts';
import { timeFrom } from '../base/since.ts';

export default class ThreadsList extends BaseCommand {
  static override summary = 'List the threads of a mailbox, latest activity first';

  static override description =
    'Without --folder it lists all folders except spam and trash. A message matches --q ' +
    'if it has all of its terms: words, "a phrase", from:ada, subject:plan, ' +
    'has:attachment, wor*.';

  static override examples = [
    {
      description: 'List received threads',
      command: 'svc threads list inbox@sandbox.test --unread',
    },
    {
      description: 'Search by sender and word',
      command: 'svc threads list --q "from:ada invoice"',
    },
  ];

  static override args = mailboxArg;

  static override flags = {
    q: Flags.string({
      description: 'Search words in subject, sender and text',
      helpValue: 'WORDS',
    }),
    folder: Flags.string({
      description: 'Only this folder: inbox, sent, archive, spam, trash or drafts',
    }),
    label: Flags.string({ description: 'Only threads with this label' }),
    unread: Flags.boolean({ description: 'Only unread threads, or only read ones', allowNo: true }),
    starred: Flags.boolean({ description: 'Only starred threads, or only others', allowNo: true }),
    snoozed: Flags.boolean({ description: 'Only snoozed threads, or only others', allowNo: true }),
    after: Flags.string({
      description: 'Only threads active after: 90s, 10m, 1h, 7d ago, or an instant',
    }),
    before: Flags.string({ description: 'Only threads active before: the same' }),
    limit: Flags.string({ description: 'Number of items, at most 100' }),
    cursor: Flags.string({ description: 'nextCursor of the page before' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ThreadsList);
    const { q, folder, label, unread, starred, snoozed, limit, cursor } = flags;
    const after = timeFrom('--after', flags.after, Date.now());
    const before = timeFrom('--before', flags.before, Date.now());
    const filters = { q, folder, label, unread, starred, snoozed, after, before };
    const page = await withCaller(flags, async (app, caller) => {
      const { threadRoutes } = await import('../../src/threads/routes.ts');
      const params = { id: await mailboxIdFrom(app, caller, args.mailbox ?? '') };
      const query = given({ ...filters, limit, cursor });
      return runRoute(app, caller, threadRoutes.list, { params, query });
    });
    const columns = ['id', 'lastActivityAt', 'from.address', 'subject', 'messageCount', 'folder'];
    await printList(
      flags,
      page,
      [...columns, 'read', 'labels'],
      'No threads found. Other mailboxes: svc mailboxes list',
    );
  }
}
