import { templateRoutes } from '../../src/content/templates/routes.ts';
import { findTemplate, templateArg } from '../base/nouns/template-id.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  description: 'Sent messages stay.',
  examples: [['Delete a template in a script', 'svc templates delete order-shipped --yes']],
  args: templateArg,
  find: findTemplate,
  shows: templateRoutes.get,
  route: templateRoutes.delete,
  question: ({ name }) => `Delete the template ${name} with its history for good?`,
});
