// `svc usage` (specification 2.16). src/identity/reputation/stats.ts computes the usage.
import { usageRoutes } from '../src/identity/reputation/routes.ts';
import { showCommand } from './base/verbs.ts';

export default showCommand({
  examples: [
    ['Show the current month until now', 'svc usage'],
    ['Show a month of another organization', 'svc usage --org acme --period 2026-01'],
  ],
  route: usageRoutes.usage,
  card: [
    ...['usage.periodStart', 'usage.periodEnd', 'usage.emailCount', 'usage.totalMessages'],
    ...['billing.planName', 'billing.includedEmails', 'billing.overageEmails'],
    ...['billing.overageCost', 'billing.currency'],
  ],
});
