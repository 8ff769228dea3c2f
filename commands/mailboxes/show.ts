import { mailboxRoutes } from '../../src/identity/mailboxes/routes.ts';
import { idArg, showCommand } from '../base/verbs.ts';

export const args = idArg('Id of the mailbox (mbx_…)');

export const card = [
  ...['id', 'slug', 'displayName', 'status', 'primaryAddress', 'defaultFrom.address'],
  ...['description', 'filters.allow', 'filters.block', 'namespaceId', 'createdAt'],
];

export default showCommand({
  examples: [['Show the status of a mailbox', 'svc mailboxes show mbx_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  route: mailboxRoutes.get,
  card,
});
