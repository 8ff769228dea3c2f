// `svc webhooks stats` (specification 2.14). src/webhooks/deliveries/stats.ts counts the
// deliveries.
import { webhookRoutes } from '../../src/webhooks/routes.ts';
import type { WebhookStats } from '../../src/webhooks/schema.ts';
import { sparkline } from '../base/output/sparkline.ts';
import { showCommand } from '../base/verbs.ts';
import { args } from './show.ts';

const statuses = ['delivered', 'pending', 'exhausted', 'cancelled'] as const;

async function statsText(stats: WebhookStats): Promise<string> {
  const { table } = await import('../base/output/format.ts');
  const rows = statuses.map((status) => ({
    status,
    deliveries: stats[status],
    byDay: sparkline(stats.daily.map((day) => day[status])),
  }));
  const [first, last] = [stats.daily[0], stats.daily.at(-1)].map((day) => day?.date);
  const shown = table(rows, ['status', 'deliveries', 'byDay']);
  return `${shown}\n\n${stats.total} in all, from ${first} to ${last}.`;
}

export default showCommand({
  summary: 'Show the deliveries of a webhook by day and outcome',
  description:
    "Days are in the organization's time zone. A delivery counts on the day of its " +
    'creation, whenever it was accepted.',
  examples: [
    ['Show the last 30 days', 'svc webhooks stats wep_06dq2k0qz8h3v5m1r9t4w7xy'],
    [
      'Show all days that are stored',
      'svc webhooks stats wep_06dq2k0qz8h3v5m1r9t4w7xy --period 90',
    ],
  ],
  args,
  route: webhookRoutes.stats,
  view: statsText,
});
