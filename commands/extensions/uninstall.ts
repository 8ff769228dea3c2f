import { installationRoutes } from '../../src/extensions/installation-routes.ts';
import { installationArg as args } from '../base/nouns/extension.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  summary: 'Uninstall an extension for good',
  examples: [['Uninstall in a script', 'svc extensions uninstall @last --yes']],
  args,
  shows: installationRoutes.get,
  route: installationRoutes.delete,
  question: ({ name, version }) => `Uninstall ${name} ${version.version} for good?`,
});
