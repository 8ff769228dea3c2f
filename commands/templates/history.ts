import { workspaceRoutes } from '../../src/content/templates/workspace/routes.ts';
import { findTemplate, templateArg } from '../base/nouns/template-id.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the commits of a template, newest first',
  examples: [['List the last five commits', 'svc templates history order-shipped --limit 5']],
  args: templateArg,
  find: findTemplate,
  route: workspaceRoutes.history,
  columns: ['date', 'commit', 'author.name', 'version', 'message'],
  whenEmpty: 'This template has no commits.',
});
