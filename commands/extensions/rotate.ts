import { installationRoutes } from '../../src/extensions/installation-routes.ts';
import { installationArg as args, credentials } from '../base/nouns/extension.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Replace the key and the webhook secret of an installation',
  examples: [['Pass the new key to a script', 'svc extensions rotate @last --json | jq -r .key']],
  args,
  route: installationRoutes.rotate,
  ...credentials,
});
