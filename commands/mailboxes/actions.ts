// `svc mailboxes actions`. Actions: src/inbox/approvals/actions.ts.
import { listActionsQuery } from '../../src/inbox/approvals/schema.ts';
import type { Session } from '../base/asking.ts';
import { BaseCommand } from '../base/command.ts';
import { flagsOf } from '../base/input/schema-flags.ts';
import { mailboxIdFrom, mailboxOrAllArg } from '../base/mail/mailbox-id.ts';
import { printList } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';
import { valuesOf } from '../base/verbs.ts';

const { flags: queryFlags, fields } = flagsOf(listActionsQuery);
const columns = ['createdAt', 'id', 'type', 'state', 'actor.displayName', 'summary.subject'];
const columnsOfAll = columns.toSpliced(2, 0, 'summary.from');

export default class MailboxesActions extends BaseCommand {
  static override asksServer = true;

  static override summary = 'List the actions of keys in mailboxes, newest first';

  static override examples = [
    {
      description: 'List the proposals in all mailboxes that wait for a decision',
      command: 'svc mailboxes actions --state proposed',
    },
    {
      description: 'List the actions in one mailbox',
      command: 'svc mailboxes actions inbox@sandbox.test',
    },
  ];

  static override args = mailboxOrAllArg;

  static override flags = queryFlags;

  async run(): Promise<void> {
    const { args: typed, flags } = await this.parse(MailboxesActions);
    const query = valuesOf(flags, fields);
    const isFiltered = Object.keys(query).some((name) => name !== 'limit');
    const { page, whenEmpty } = await withSession(flags, async (session) => {
      const { mailboxActionRoutes: routes } = await import('../../src/inbox/approvals/routes.ts');
      const page =
        typed.mailbox === undefined
          ? await session.ask(routes.listAll, { query })
          : await session.ask(routes.list, {
              params: { id: await mailboxIdFrom(session, typed.mailbox) },
              query,
            });
      return {
        page,
        whenEmpty: page.items.length > 0 ? '' : await noneWords(session, isFiltered),
      };
    });
    const shown = typed.mailbox === undefined ? columnsOfAll : columns;
    await printList(flags, page, shown, whenEmpty);
  }
}

/** Explains an empty list; if any mailbox has open proposals, names the command to review them. */
async function noneWords(session: Session, isFiltered: boolean): Promise<string> {
  const { mailboxActionRoutes } = await import('../../src/inbox/approvals/routes.ts');
  const query = { state: 'proposed', limit: '1' };
  const waiting = await session.ask(mailboxActionRoutes.listAll, { query });
  if (waiting.items.length > 0) {
    return 'No such actions here, but proposals wait for a decision: svc mailboxes review';
  }
  return isFiltered ? 'No action matches these filters' : 'No key has acted here yet';
}
