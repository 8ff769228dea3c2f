import { listVersionsQuery } from '../../src/extensions/schema.ts';
import { extensionArg as args } from '../base/nouns/extension.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the versions of an extension, newest first',
  examples: [['List the versions of the newest extension', 'svc extensions versions @last']],
  args,
  query: listVersionsQuery,
  route: async () => (await import('../../src/extensions/routes.ts')).extensionVersionRoutes.list,
  columns: ['id', 'version', 'isLatest', 'permissions', 'events', 'sendModes', 'withdrawnAt'],
  whenEmpty: 'No versions found. Publish one: svc extensions version EXTENSION VERSION',
});
