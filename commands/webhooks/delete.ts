import { webhookRoutes } from '../../src/webhooks/routes.ts';
import { deleteCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default deleteCommand({
  summary: 'Delete a webhook with its deliveries for good',
  examples: [
    ['Delete a webhook in a script', 'svc webhooks delete wep_06dq2k0qz8h3v5m1r9t4w7xy --yes'],
  ],
  args,
  shows: webhookRoutes.get,
  route: webhookRoutes.delete,
  question: ({ url }) => `Delete the webhook to ${url} for good?`,
});
