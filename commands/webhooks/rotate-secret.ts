import { webhookRoutes } from '../../src/webhooks/routes.ts';
import { showCommand } from '../base/verbs.ts';
import { args, shownOnce } from './show.ts';

export default showCommand({
  description: 'The new secret is shown only this once. Both secrets sign each post for 24 hours.',
  examples: [
    [
      'Pass the new secret to a script',
      'svc webhooks rotate-secret wep_06dq2k0qz8h3v5m1r9t4w7xy --json | jq -r .secret',
    ],
  ],
  args,
  route: webhookRoutes.rotateSecret,
  ...shownOnce,
});
