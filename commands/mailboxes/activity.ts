// `svc mailboxes activity`: the counts of the route agent-activity, and the actions of each hour as
// bars.
import type { MailboxActivity } from '../../src/inbox/approvals/schema.ts';
import type { Session } from '../base/asking.ts';
import { BaseCommand } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import { rangeFlags, rangeFrom } from '../base/input/since.ts';
import { itemsOf } from '../base/items.ts';
import { mailboxArg, mailboxIdFrom } from '../base/mail/mailbox-id.ts';
import { print } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';

const hourMs = 3_600_000;
const hoursShown = 24;
const widestBar = 40;
const nothing = 'No key acted in this mailbox, and nothing waits for approval.';

interface HourCount {
  hour: number;
  count: number;
}

/** Draws a line for each hour that has actions, the oldest first. */
function barsOf(hours: readonly HourCount[]): string[] {
  const most = Math.max(...hours.map(({ count }) => count));
  return hours.map(({ hour, count }) => {
    const bar = '█'.repeat(Math.ceil((count / most) * widestBar));
    return `${new Date(hour).toISOString().slice(11, 16)}  ${bar} ${count}`;
  });
}

function linesOf({ actions, events, pendingApprovals }: MailboxActivity): string[] {
  const row = (name: string, counts: readonly string[]) =>
    counts.length > 0 ? [`${name.padEnd(18)}${counts.join(', ')}`] : [];
  return [
    row(
      'actions',
      actions.byType.map(({ type, count }) => `${count} ${type}`),
    ),
    row(
      'their states',
      actions.byState.map(({ state, count }) => `${count} ${state}`),
    ),
    row(
      'events',
      events.byType.map(({ type, count }) => `${count} ${type}`),
    ),
    row('pendingApprovals', pendingApprovals > 0 ? [String(pendingApprovals)] : []),
  ].flat();
}

/** Counts the actions of the last 24 hours, by hour; leaves out hours without actions. */
async function hoursOf(session: Session, id: string, now: number): Promise<HourCount[]> {
  const from = now - hoursShown * hourMs;
  if (session.local) {
    const { selectHours } = await import('../../src/inbox/approvals/hour-queries.ts');
    return selectHours(session.local.app.store.db, id, { from, to: now + 1 });
  }
  const { mailboxActionRoutes } = await import('../../src/inbox/approvals/routes.ts');
  const counts = new Map<number, number>();
  for await (const action of itemsOf(session, mailboxActionRoutes.list, { params: { id } })) {
    const at = Date.parse(action.createdAt);
    const hour = at - (at % hourMs);
    if (hour < from) break;
    counts.set(hour, (counts.get(hour) ?? 0) + 1);
  }
  return [...counts].reverse().map(([hour, count]) => ({ hour, count }));
}

export default class MailboxesActivity extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Count the actions of keys and the events of a mailbox';

  static override description =
    'Leaves out counts of zero. The bars show each hour of the last day with actions, in UTC.';

  static override examples = [
    {
      description: 'Count the last week',
      command: 'svc mailboxes activity mbx_06dq2k0qz8h3v5m1r9t4w7xy --after 7d',
    },
  ];

  static override args = mailboxArg;

  static override flags = rangeFlags('actions and events');

  async run(): Promise<void> {
    const { args: typed, flags } = await this.parse(MailboxesActivity);
    await withSession(flags, async (session) => {
      const now = session.now();
      const { mailboxActionRoutes } = await import('../../src/inbox/approvals/routes.ts');
      const id = await mailboxIdFrom(session, typed.mailbox ?? '');
      const activity = await session.ask(mailboxActionRoutes.activity, {
        params: { id },
        query: given(rangeFrom(flags, now)),
      });
      await print(flags, activity, async () => {
        const hours = await hoursOf(session, id, now);
        const parts = [linesOf(activity), barsOf(hours)].filter((lines) => lines.length > 0);
        return parts.map((lines) => lines.join('\n')).join('\n\n') || nothing;
      });
    });
  }
}
