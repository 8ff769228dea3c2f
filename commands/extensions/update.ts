import { updateExtensionInput } from '../../src/extensions/schema.ts';
import { extensionArg as args, extensionCard as card } from '../base/nouns/extension.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Change the texts of an extension',
  examples: [['Rename it for people', 'svc extensions update @last --display-name Sorter']],
  args,
  body: updateExtensionInput,
  route: async () => (await import('../../src/extensions/routes.ts')).extensionRoutes.update,
  card,
});
