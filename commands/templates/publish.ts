import { findTemplate, templateArg, templateCard } from '../base/nouns/template-id.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Publish the saved files of a template for sends',
  description:
    'Publishing the same commit with the same brand CSS again gives the same version. An ' +
    'archived template comes back.',
  examples: [['Publish a template', 'svc templates publish order-shipped']],
  args: templateArg,
  find: findTemplate,
  route: async () => (await import('../../src/content/templates/routes.ts')).templateRoutes.publish,
  card: templateCard,
});
