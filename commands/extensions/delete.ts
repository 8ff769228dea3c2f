import { extensionRoutes } from '../../src/extensions/routes.ts';
import { extensionArg as args } from '../base/nouns/extension.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  summary: 'Delete an extension with its versions for good',
  description: 'It must be installed nowhere.',
  examples: [['Delete an extension in a script', 'svc extensions delete @last --yes']],
  args,
  shows: extensionRoutes.get,
  route: extensionRoutes.delete,
  question: ({ name }) => `Delete the extension ${name} with its versions for good?`,
});
