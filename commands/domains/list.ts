import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the sending domains of the organization, newest first',
  examples: [
    ['All with their status', 'svc domains list'],
    [
      'Those that are not verified',
      `svc domains list --json | jq -r '.items[] | select(.status != "verified") .domain'`,
    ],
  ],
  route: async () => (await import('../../src/domains/routes.ts')).domainRoutes.list,
  columns: ['id', 'domain', 'status', 'sendingStatus', 'createdAt'],
  whenEmpty: 'No domains yet: svc domains add NAME',
});
