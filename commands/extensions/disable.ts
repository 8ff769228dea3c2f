import { installationArg as args, installationCard as card } from '../base/nouns/extension.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Disable an installation at once',
  description: 'Its key is refused and its streams end. Posts to its webhook wait.',
  examples: [['Disable the newest installation', 'svc extensions disable @last']],
  args,
  route: async () =>
    (await import('../../src/extensions/installation-routes.ts')).installationRoutes.disable,
  card,
});
