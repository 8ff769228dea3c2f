import { findTemplate, templateArg, templateCard } from '../base/nouns/template-id.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Show a template',
  examples: [['Show the state of a template', 'svc templates show order-shipped']],
  args: templateArg,
  find: findTemplate,
  route: async () => (await import('../../src/content/templates/routes.ts')).templateRoutes.get,
  card: templateCard,
});
