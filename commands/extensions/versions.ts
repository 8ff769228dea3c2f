import { extensionVersionRoutes } from '../../src/extensions/routes.ts';
import { extensionArg as args } from '../base/nouns/extension.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [['List the versions of the newest extension', 'svc extensions versions @last']],
  args,
  route: extensionVersionRoutes.list,
  columns: ['id', 'version', 'isLatest', 'permissions', 'events', 'sendModes', 'withdrawnAt'],
  whenEmpty: 'No versions found. Publish one: svc extensions version EXTENSION VERSION',
});
