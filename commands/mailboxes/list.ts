import { mailboxRoutes } from '../../src/identity/mailboxes/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [
    ['List all mailboxes', 'svc mailboxes list'],
    ['List the paused mailboxes', 'svc mailboxes list --status paused'],
  ],
  route: mailboxRoutes.list,
  columns: ['id', 'slug', 'primaryAddress', 'status', 'displayName', 'createdAt'],
  whenEmpty: 'No mailboxes found. Create one: svc mailboxes create --slug support',
});
