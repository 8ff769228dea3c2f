// `svc mailboxes activity`: agent-activity, and the actions of each hour as bars.
import type { MailboxActivity } from '../../src/inbox/approvals/schema.ts';
import { BaseCommand } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import { rangeFlags, rangeFrom } from '../base/input/since.ts';
import { mailboxArg, mailboxIdFrom } from '../base/mail/mailbox-id.ts';
import { print } from '../base/output/output.ts';
import { runRoute } from '../base/route.ts';
import { withCaller } from '../base/session.ts';

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

export default class MailboxesActivity extends BaseCommand {
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
    await withCaller(flags, async (app, caller) => {
      const now = app.clock.now();
      const { mailboxActionRoutes } = await import('../../src/inbox/approvals/routes.ts');
      const { selectHours } = await import('../../src/inbox/approvals/hour-queries.ts');
      const id = await mailboxIdFrom(app, caller, typed.mailbox ?? '');
      const activity = await runRoute(app, caller, mailboxActionRoutes.activity, {
        params: { id },
        query: given(rangeFrom(flags, now)),
      });
      await print(flags, activity, async () => {
        const range = { from: now - hoursShown * hourMs, to: now + 1 };
        const hours = await selectHours(app.store.db, id, range);
        const parts = [linesOf(activity), barsOf(hours)].filter((lines) => lines.length > 0);
        return parts.map((lines) => lines.join('\n')).join('\n\n') || nothing;
      });
    });
  }
}
