import { listWebhooksQuery } from '../../src/webhooks/schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the webhooks of the organization, newest first',
  examples: [
    ['List all endpoints', 'svc webhooks list'],
    ['List the webhooks of another organization', 'svc webhooks list --org acme --limit 100'],
  ],
  query: listWebhooksQuery,
  route: async () => (await import('../../src/webhooks/routes.ts')).webhookRoutes.list,
  columns: ['id', 'name', 'url', 'events', 'status', 'disabledReason'],
  whenEmpty: 'No webhooks found. Create one: svc webhooks create --url URL --event KIND',
});
