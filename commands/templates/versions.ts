import { templateRoutes } from '../../src/content/templates/routes.ts';
import { findTemplate, templateArg } from '../base/nouns/template-id.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [['List the versions, newest first', 'svc templates versions order-shipped']],
  args: templateArg,
  find: findTemplate,
  route: templateRoutes.versions,
  columns: ['version', 'commit', 'brand', 'htmlBytes', 'warnings.code', 'createdAt'],
  whenEmpty: 'This template was never published.',
});
