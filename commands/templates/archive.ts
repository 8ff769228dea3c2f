import { findTemplate, templateArg, templateCard } from '../base/nouns/template-id.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Archive a template: sends that name it are refused',
  description: 'It can be published again. Its files and versions stay.',
  examples: [['Archive a template', 'svc templates archive order-shipped']],
  args: templateArg,
  find: findTemplate,
  route: async () => (await import('../../src/content/templates/routes.ts')).templateRoutes.archive,
  card: templateCard,
});
