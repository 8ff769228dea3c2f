import { templateRoutes } from '../../src/content/templates/routes.ts';
import { findTemplate, templateArg, templateCard } from '../base/nouns/template-id.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Archive a template: sends that name it are refused',
  description: 'It can be published again. Its files and versions stay.',
  examples: [['Archive a template', 'svc templates archive order-shipped']],
  args: templateArg,
  find: findTemplate,
  route: templateRoutes.archive,
  card: templateCard,
});
