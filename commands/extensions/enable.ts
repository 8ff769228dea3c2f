import { installationRoutes } from '../../src/extensions/installation-routes.ts';
import { installationArg as args, installationCard as card } from '../base/nouns/extension.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  examples: [['Enable the newest installation', 'svc extensions enable @last']],
  args,
  route: installationRoutes.enable,
  card,
});
