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
  static override summary = 'List the threads of a mailbox, most recent activity first';

  static override description =
    'Without --folder all but spam and trash. What --q asks for is all in one message: words, ' +
    '"a phrase", from:ada, subject:plan, has:attachment, wor*.';

  static override examples = [
    { description: 'What came in', command: 'svc threads list inbox@sandbox.test --unread' },
    { description: 'Who wrote of it', command: 'svc threads list --q "from:ada invoice"' },
  ];

  static override args = mailboxArg;

  static override flags = {
    q: Flags.string({ description: 'Words in subject, sender and text', helpValue: 'WORDS' }),
    folder: Flags.string({ description: 'inbox, sent, archive, spam, trash or drafts' }),
    label: Flags.string({ description: 'Those that have it' }),
    unread: Flags.boolean({ description: 'Those that are unread, or are not', allowNo: true }),
    starred: Flags.boolean({ description: 'Those with a star, or without', allowNo: true }),
    snoozed: Flags.boolean({ description: 'Those that are put off, or are not', allowNo: true }),
    after: Flags.string({ description: 'Active after then: 90s, 10m, 1h, 7d, or an instant' }),
    before: Flags.string({ description: 'Active before then' }),
    limit: Flags.string({ description: 'So many, at most 100' }),
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
    await printList(flags, page, [...columns, 'read', 'labels'], 'No such threads');
  }
}
