import { dataFlag } from '../base/command.ts';
import { updateCommand } from '../base/verbs.ts';
import { args } from './show.ts';

export default updateCommand({
  summary: 'Post a test event to a webhook',
  description: 'A webhook.test, which the daemon delivers and retries as it does any event.',
  examples: [
    ['Does it answer?', 'svc webhooks test wep_06dq2k0qz8h3v5m1r9t4w7xy'],
    [
      'With data of your own',
      `svc webhooks test wep_06dq2k0qz8h3v5m1r9t4w7xy --data '{"data":{"order":7}}'`,
    ],
  ],
  args,
  flags: dataFlag,
  route: async () => (await import('../../src/webhooks/routes.ts')).webhookRoutes.test,
  card: ['accepted', 'eventId', 'deliveryId'],
});
