import { installationArg as args, installationCard as card } from '../base/nouns/extension.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Enable an installation with all that it had',
  description: 'Also one whose webhook was disabled for its failures.',
  examples: [['Enable the newest installation', 'svc extensions enable @last']],
  args,
  route: async () =>
    (await import('../../src/extensions/installation-routes.ts')).installationRoutes.enable,
  card,
});
