import { webhookRoutes } from '../../src/webhooks/routes.ts';
import { settingFlags, settingsOf } from '../base/nouns/webhook.ts';
import { createCommand } from '../base/verbs.ts';
import { shownOnce } from './show.ts';

export default createCommand({
  summary: 'Create a webhook: an endpoint that receives events',
  description:
    'Posts are signed by the Standard Webhooks scheme; the secret is shown only this ' +
    'once. An event is a kind, such as message.delivered, all kinds with one beginning, ' +
    'such as message.*, or * for all.',
  examples: [
    [
      'Receive deliveries and bounces',
      'svc webhooks create --url https://hooks.example.com/svc --event message.delivered --event message.bounced',
    ],
    [
      'Receive all events, with a header of your own',
      "svc webhooks create --url https://hooks.example.com/svc --event '*' --header 'X-Team: billing'",
    ],
    [
      'Print the secret alone, for a script',
      "svc webhooks create --url https://hooks.example.com/svc --event 'message.*' --json | jq -r .secret",
    ],
  ],
  flags: settingFlags,
  more: settingsOf,
  route: webhookRoutes.create,
  ...shownOnce,
});
