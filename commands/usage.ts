// `svc usage` (specification 2.16). Counters and costs: src/identity/reputation/stats.ts.
import { usageQuery } from '../src/identity/reputation/schema.ts';
import { showCommand } from './base/verbs.ts';

export default showCommand({
  summary: 'Show the emails sent in a month and their cost',
  examples: [
    ['Show the current month until now', 'svc usage'],
    ['Show a month of another organization', 'svc usage --org acme --period 2026-01'],
  ],
  query: usageQuery,
  route: async () => (await import('../src/identity/reputation/routes.ts')).usageRoutes.usage,
  card: [
    ...['usage.periodStart', 'usage.periodEnd', 'usage.emailCount', 'usage.totalMessages'],
    ...['billing.planName', 'billing.includedEmails', 'billing.overageEmails'],
    ...['billing.overageCost', 'billing.currency'],
  ],
});
