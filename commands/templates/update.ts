import { templateRoutes } from '../../src/content/templates/routes.ts';
import { findTemplate, templateArg, templateCard } from '../base/nouns/template-id.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Change the name, slug or description of a template',
  examples: [['Rename a template', 'svc templates update order-shipped --name "Parcel sent"']],
  args: templateArg,
  find: findTemplate,
  route: templateRoutes.update,
  card: templateCard,
});
