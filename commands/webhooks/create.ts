import { dataFlag } from '../base/command.ts';
import { createCommand } from '../base/verbs.ts';
import { settingFields, settingFlags, settingsOf } from '../base/webhook.ts';
import { shownOnce } from './show.ts';

export default createCommand({
  summary: 'Make a webhook: an endpoint that events are posted to',
  description:
    'Posts are signed as Standard Webhooks says; the secret is shown this once. Events are kinds, ' +
    'such as message.delivered, all that begin alike, such as message.*, or * for all.',
  examples: [
    [
      'Told of what arrives and what does not',
      'svc webhooks create --url https://hooks.example.com/svc --event message.delivered --event message.bounced',
    ],
    [
      'All events, with a header of your own',
      "svc webhooks create --url https://hooks.example.com/svc --event '*' --header 'X-Team: billing'",
    ],
    [
      'The secret alone, for a script',
      "svc webhooks create --url https://hooks.example.com/svc --event 'message.*' --json | jq -r .secret",
    ],
  ],
  flags: { ...settingFlags, ...dataFlag },
  fields: settingFields,
  more: settingsOf,
  route: async () => (await import('../../src/webhooks/routes.ts')).webhookRoutes.create,
  ...shownOnce,
});
