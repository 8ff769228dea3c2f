import { duplicateTemplateInput } from '../../src/content/templates/schema.ts';
import { findTemplate, templateArg, templateCard } from '../base/nouns/template-id.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Copy the saved files of a template to a new one',
  examples: [['Copy a template', 'svc templates duplicate order-shipped --slug order-shipped-de']],
  args: templateArg,
  find: findTemplate,
  body: duplicateTemplateInput,
  route: async () =>
    (await import('../../src/content/templates/routes.ts')).templateRoutes.duplicate,
  card: templateCard,
});
