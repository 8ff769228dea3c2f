import { templateRoutes } from '../../src/content/templates/routes.ts';
import { findTemplate, templateArg, templateCard } from '../base/nouns/template-id.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  examples: [['Show the state of a template', 'svc templates show order-shipped']],
  args: templateArg,
  find: findTemplate,
  route: templateRoutes.get,
  card: templateCard,
});
