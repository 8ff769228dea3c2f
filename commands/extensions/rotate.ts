import { installationArg as args, credentials } from '../base/nouns/extension.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Replace the key and the webhook secret of an installation',
  description: 'The old key ends at once. Both secrets sign for 24 hours.',
  examples: [['Pass the new key to a script', 'svc extensions rotate @last --json | jq -r .key']],
  args,
  route: async () =>
    (await import('../../src/extensions/installation-routes.ts')).installationRoutes.rotate,
  ...credentials,
});
