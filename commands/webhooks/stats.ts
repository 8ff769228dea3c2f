// `svc webhooks stats` (specification 2.14). Counters: src/webhooks/stats.ts.
import { Args, Flags } from '@oclif/core';
import { given } from '../base/body.ts';
import { BaseCommand } from '../base/command.ts';
import { print } from '../base/output.ts';
import { callRoute } from '../base/route.ts';
import { sparkline } from '../base/sparkline.ts';

const statuses = ['delivered', 'pending', 'exhausted', 'cancelled'] as const;

export default class WebhooksStats extends BaseCommand {
  static override summary = 'Show the deliveries of a webhook by day and outcome';

  static override description =
    "Days are in the organization's time zone. A delivery counts on the day of its " +
    'creation, whenever it was accepted.';

  static override examples = [
    {
      description: 'Show the last 30 days',
      command: 'svc webhooks stats wep_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    {
      description: 'Show all days that are stored',
      command: 'svc webhooks stats wep_06dq2k0qz8h3v5m1r9t4w7xy --period 90',
    },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the webhook (wep_…)', required: true }),
  };

  static override flags = {
    period: Flags.string({ description: 'Days: 7, 30 (default) or 90', helpValue: 'DAYS' }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksStats);
    const stats = await callRoute(
      flags,
      async () => (await import('../../src/webhooks/routes.ts')).webhookRoutes.stats,
      { params: { id: args.id }, query: given({ period: flags.period }) },
    );
    await print(flags, stats, async () => {
      const { table } = await import('../base/format.ts');
      const rows = statuses.map((status) => ({
        status,
        deliveries: stats[status],
        byDay: sparkline(stats.daily.map((day) => day[status])),
      }));
      const [first, last] = [stats.daily[0], stats.daily.at(-1)].map((day) => day?.date);
      const shown = table(rows, ['status', 'deliveries', 'byDay']);
      return `${shown}\n\n${stats.total} in all, from ${first} to ${last}.`;
    });
  }
}
