import { extensionRoutes } from '../../src/extensions/routes.ts';
import { extensionArg as args, extensionCard as card } from '../base/nouns/extension.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  examples: [['Rename it for people', 'svc extensions update @last --display-name Sorter']],
  args,
  route: extensionRoutes.update,
  card,
});
