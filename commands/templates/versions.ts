import { listVersionsQuery } from '../../src/content/templates/schema.ts';
import { findTemplate, templateArg } from '../base/nouns/template-id.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the published versions of a template',
  examples: [['List the versions, newest first', 'svc templates versions order-shipped']],
  args: templateArg,
  find: findTemplate,
  query: listVersionsQuery,
  route: async () =>
    (await import('../../src/content/templates/routes.ts')).templateRoutes.versions,
  columns: ['version', 'commit', 'brand', 'htmlBytes', 'warnings.code', 'createdAt'],
  whenEmpty: 'This template was never published.',
});
