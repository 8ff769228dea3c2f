import { listDomainsQuery } from '../../src/identity/domains/schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the sending domains, newest first',
  examples: [
    ['List all domains with their status', 'svc domains list'],
    [
      'List the domains that are not verified',
      `svc domains list --json | jq -r '.items[] | select(.status != "verified") .domain'`,
    ],
  ],
  query: listDomainsQuery,
  route: async () => (await import('../../src/identity/domains/routes.ts')).domainRoutes.list,
  columns: ['id', 'domain', 'status', 'sendingStatus', 'createdAt'],
  whenEmpty: 'No domains found. Register one: svc domains add NAME',
});
