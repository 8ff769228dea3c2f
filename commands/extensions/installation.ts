import { installationRoutes } from '../../src/extensions/installation-routes.ts';
import { installationArg as args, installationCard as card } from '../base/nouns/extension.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Show an installed extension with its grants',
  examples: [['Show the newest installation', 'svc extensions installation @last']],
  args,
  route: installationRoutes.get,
  card,
});
