import { installationRoutes } from '../../src/extensions/installation-routes.ts';
import { installationArg as args } from '../base/nouns/extension.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List upgrades and rollbacks of an installation, newest first',
  examples: [['List those of the newest installation', 'svc extensions changes @last']],
  args,
  route: installationRoutes.changes,
  columns: [
    ...['changedAt', 'fromVersion.version', 'toVersion.version', 'changedBy.displayName'],
    ...['permissionDiff.added', 'permissionDiff.removed'],
  ],
  whenEmpty: 'No version changes found: it has the version that was installed.',
});
