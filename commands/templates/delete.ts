import { findTemplate, templateArg } from '../base/nouns/template-id.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  summary: 'Delete a template with its versions and its history',
  description: 'Asks for confirmation on a terminal; elsewhere it needs --yes. Sent messages stay.',
  examples: [['Delete a template in a script', 'svc templates delete order-shipped --yes']],
  args: templateArg,
  find: findTemplate,
  shows: async () => (await import('../../src/content/templates/routes.ts')).templateRoutes.get,
  route: async () => (await import('../../src/content/templates/routes.ts')).templateRoutes.delete,
  question: ({ name }) => `Delete the template ${name} with its history for good?`,
});
