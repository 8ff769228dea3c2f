import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the webhooks of the organization, newest first',
  examples: [
    ['Where events are posted to', 'svc webhooks list'],
    ['Those of another organization', 'svc webhooks list --org acme --limit 100'],
  ],
  route: async () => (await import('../../src/webhooks/routes.ts')).webhookRoutes.list,
  columns: ['id', 'name', 'url', 'events', 'status', 'disabledReason'],
  whenEmpty: 'No webhooks yet: svc webhooks create --url URL --event message.delivered',
});
