import { installationRoutes } from '../../src/extensions/installation-routes.ts';
import { installationArg as args, installationCard as card } from '../base/nouns/extension.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  examples: [['Disable the newest installation', 'svc extensions disable @last']],
  args,
  route: installationRoutes.disable,
  card,
});
