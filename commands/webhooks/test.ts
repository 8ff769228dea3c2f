import { testWebhookInput } from '../../src/webhooks/schema.ts';
import { updateCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default updateCommand({
  summary: 'Post a test event to a webhook',
  description: 'Publishes a webhook.test event, which the daemon delivers like any other.',
  examples: [
    ['Test whether an endpoint answers', 'svc webhooks test wep_06dq2k0qz8h3v5m1r9t4w7xy'],
    [
      'Post data of your own',
      `svc webhooks test wep_06dq2k0qz8h3v5m1r9t4w7xy --data '{"data":{"order":7}}'`,
    ],
  ],
  args,
  body: testWebhookInput,
  route: async () => (await import('../../src/webhooks/routes.ts')).webhookRoutes.test,
  card: ['accepted', 'eventId', 'deliveryId'],
});
