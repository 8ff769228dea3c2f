import { webhookRoutes } from '../../src/webhooks/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [
    ['List all endpoints', 'svc webhooks list'],
    ['List the webhooks of another organization', 'svc webhooks list --org acme --limit 100'],
  ],
  route: webhookRoutes.list,
  columns: ['id', 'name', 'url', 'events', 'status', 'disabledReason'],
  whenEmpty: 'No webhooks found. Create one: svc webhooks create --url URL --event KIND',
});
