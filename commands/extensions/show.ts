import { extensionRoutes } from '../../src/extensions/routes.ts';
import { extensionArg as args, extensionCard as card } from '../base/nouns/extension.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  examples: [['Show the newest extension', 'svc extensions show @last']],
  args,
  route: extensionRoutes.get,
  card,
});
