import { extensionArg as args, extensionCard as card } from '../base/nouns/extension.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Show an extension',
  examples: [['Show the newest extension', 'svc extensions show @last']],
  args,
  route: async () => (await import('../../src/extensions/routes.ts')).extensionRoutes.get,
  card,
});
