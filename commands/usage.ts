// `svc usage` (specification 2.16). Counters and costs: src/usage/stats.ts.
import { Flags } from '@oclif/core';
import { given } from './base/body.ts';
import { BaseCommand } from './base/command.ts';
import { printCard } from './base/output.ts';
import { callRoute } from './base/route.ts';

const fields = [
  'usage.periodStart',
  'usage.periodEnd',
  'usage.emailCount',
  'usage.totalMessages',
  'billing.planName',
  'billing.includedEmails',
  'billing.overageEmails',
  'billing.overageCost',
  'billing.currency',
];

export default class Usage extends BaseCommand {
  static override summary = 'Show the emails sent in a month and their cost';

  static override examples = [
    { description: 'Show the current month until now', command: 'svc usage' },
    {
      description: 'Show a month of another organization',
      command: 'svc usage --org acme --period 2026-01',
    },
  ];

  static override flags = {
    period: Flags.string({ description: 'Month (UTC) as YYYY-MM (default: the current one)' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Usage);
    const query = given({ period: flags.period });
    const load = async () => (await import('../src/usage/routes.ts')).usageRoutes.usage;
    await printCard(flags, await callRoute(flags, load, { query }), fields);
  }
}
