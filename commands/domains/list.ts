import { domainRoutes } from '../../src/identity/domains/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [
    ['List all domains with their status', 'svc domains list'],
    [
      'List the domains that are not verified',
      `svc domains list --json | jq -r '.items[] | select(.status != "verified") .domain'`,
    ],
  ],
  route: domainRoutes.list,
  columns: ['id', 'domain', 'status', 'sendingStatus', 'createdAt'],
  whenEmpty: 'No domains found. Register one: svc domains add NAME',
});
