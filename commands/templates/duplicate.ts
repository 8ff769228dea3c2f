import { templateRoutes } from '../../src/content/templates/routes.ts';
import { findTemplate, templateArg, templateCard } from '../base/nouns/template-id.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  examples: [['Copy a template', 'svc templates duplicate order-shipped --slug order-shipped-de']],
  args: templateArg,
  find: findTemplate,
  route: templateRoutes.duplicate,
  card: templateCard,
});
