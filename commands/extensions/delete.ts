import { extensionArg as args } from '../base/nouns/extension.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  summary: 'Delete an extension with its versions for good',
  description:
    'It must be installed nowhere. Asks for confirmation on a terminal; elsewhere it needs --yes.',
  examples: [['Delete an extension in a script', 'svc extensions delete @last --yes']],
  args,
  shows: async () => (await import('../../src/extensions/routes.ts')).extensionRoutes.get,
  route: async () => (await import('../../src/extensions/routes.ts')).extensionRoutes.delete,
  question: ({ name }) => `Delete the extension ${name} with its versions for good?`,
});
