import { webhookRoutes } from '../../src/webhooks/routes.ts';
import { idArg, showCommand } from '../base/verbs.ts';

export const args = idArg('Id of the webhook (wep_…)');

export const card = [
  ...['id', 'name', 'url', 'events', 'headers', 'status', 'disabledReason'],
  ...['createdAt', 'updatedAt'],
];

/** Card and note for an endpoint with a new secret. */
export const shownOnce = {
  card: ['secret', ...card],
  note: 'The secret is never shown again: store it now, to verify posts.',
};

export default showCommand({
  summary: 'Show a webhook without its secret',
  examples: [
    ['Show whether a webhook is active', 'svc webhooks show wep_06dq2k0qz8h3v5m1r9t4w7xy'],
  ],
  args,
  route: webhookRoutes.get,
  card,
});
