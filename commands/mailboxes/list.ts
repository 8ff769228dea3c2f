import { listMailboxesQuery } from '../../src/identity/mailboxes/schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the mailboxes of the organization',
  examples: [
    ['List all mailboxes', 'svc mailboxes list'],
    ['List the paused mailboxes', 'svc mailboxes list --status paused'],
  ],
  query: listMailboxesQuery,
  route: async () => (await import('../../src/identity/mailboxes/routes.ts')).mailboxRoutes.list,
  columns: ['id', 'slug', 'primaryAddress', 'status', 'displayName', 'createdAt'],
  whenEmpty: 'No mailboxes found. Create one: svc mailboxes create --slug support',
});
