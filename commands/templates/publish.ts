import { templateRoutes } from '../../src/content/templates/routes.ts';
import { findTemplate, templateArg, templateCard } from '../base/nouns/template-id.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  description:
    'Publishing the same commit with the same brand CSS again gives the same version. An ' +
    'archived template comes back.',
  examples: [['Publish a template', 'svc templates publish order-shipped']],
  args: templateArg,
  find: findTemplate,
  route: templateRoutes.publish,
  card: templateCard,
});
