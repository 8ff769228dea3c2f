// `svc mailboxes activity`: agent-activity, and the actions of each hour as bars.
import { Flags } from '@oclif/core';
import type { MailboxActivity } from '../../src/inbox/approvals/schema.ts';
import { given } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { mailboxArg, mailboxIdFrom } from '../base/mailbox-id.ts';
import { print } from '../base/output.ts';
import { runRoute } from '../base/route.ts';
import { withCaller } from '../base/session.ts';
import { timeFrom } from '../base/since.ts';

const hourMs = 3_600_000;
const hoursShown = 24;
const widestBar = 40;

interface HourCount {
  hour: number;
  count: number;
}

/** Returns a line for each hour of the last day that has actions. */
function barsOf(hours: readonly HourCount[], now: number): string[] {
  const counts = new Map(hours.map(({ hour, count }) => [hour, count]));
  const most = Math.max(1, ...counts.values());
  const last = now - (now % hourMs);
  return Array.from({ length: hoursShown }, (_, index) => {
    const hour = last - (hoursShown - 1 - index) * hourMs;
    const count = counts.get(hour) ?? 0;
    const bar = '█'.repeat(Math.ceil((count / most) * widestBar));
    return `${new Date(hour).toISOString().slice(11, 16)}  ${bar}${bar && ' '}${count}`;
  });
}

function linesOf({ actions, events, pendingApprovals }: MailboxActivity): string[] {
  const row = (name: string, counts: readonly string[]) =>
    `${name.padEnd(18)}${counts.length > 0 ? counts.join(', ') : 'none'}`;
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
    row('pendingApprovals', [String(pendingApprovals)]),
  ];
}

export default class MailboxesActivity extends BaseCommand {
  static override summary = 'Count the actions of keys and the events of a mailbox';

  static override description = 'The bars show the actions in each hour of the last day, in UTC.';

  static override examples = [
    {
      description: 'Count the last week',
      command: 'svc mailboxes activity mbx_06dq2k0qz8h3v5m1r9t4w7xy --after 7d',
    },
  ];

  static override args = mailboxArg;

  static override flags = {
    after: Flags.string({ description: 'Start: 90s, 10m, 1h, 7d ago, or an instant' }),
    before: Flags.string({ description: 'End: 90s, 10m, 1h, 7d ago, or an instant' }),
  };

  async run(): Promise<void> {
    const { args: typed, flags } = await this.parse(MailboxesActivity);
    await withCaller(flags, async (app, caller) => {
      const now = app.clock.now();
      const { mailboxActionRoutes } = await import('../../src/inbox/approvals/routes.ts');
      const { selectHours } = await import('../../src/inbox/approvals/hour-queries.ts');
      const id = await mailboxIdFrom(app, caller, typed.mailbox ?? '');
      const after = timeFrom('--after', flags.after, now);
      const before = timeFrom('--before', flags.before, now);
      const activity = await runRoute(app, caller, mailboxActionRoutes.activity, {
        params: { id },
        query: given({ after, before }),
      });
      await print(flags, activity, async () => {
        const range = { from: now - hoursShown * hourMs, to: now + 1 };
        const hours = await selectHours(app.store.db, id, range);
        return [...linesOf(activity), '', ...barsOf(hours, now)].join('\n');
      });
    });
  }
}
