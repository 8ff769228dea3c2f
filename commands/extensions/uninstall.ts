import { installationArg as args } from '../base/nouns/extension.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  summary: 'Uninstall an extension for good',
  description:
    'Its key and its webhook end, with what waits there, and its proposals expire. Asks for ' +
    'confirmation on a terminal; elsewhere it needs --yes.',
  examples: [['Uninstall in a script', 'svc extensions uninstall @last --yes']],
  args,
  shows: async () =>
    (await import('../../src/extensions/installation-routes.ts')).installationRoutes.get,
  route: async () =>
    (await import('../../src/extensions/installation-routes.ts')).installationRoutes.delete,
  question: ({ name, version }) => `Uninstall ${name} ${version.version} for good?`,
});
