// `svc mailboxes actions`. Actions: src/inbox/approvals/actions.ts.
import { listActionsQuery } from '../../src/inbox/approvals/schema.ts';
import { mailboxArg as args, mailboxIdFrom as find } from '../base/mailbox-id.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the actions of keys in a mailbox, newest first',
  examples: [
    [
      'List the proposals that wait for a decision',
      'svc mailboxes actions mbx_06dq2k0qz8h3v5m1r9t4w7xy --state proposed',
    ],
  ],
  args,
  find,
  query: listActionsQuery,
  route: async () => (await import('../../src/inbox/approvals/routes.ts')).mailboxActionRoutes.list,
  columns: ['createdAt', 'id', 'type', 'state', 'actor.displayName', 'summary.subject'],
  whenEmpty: 'No key has acted in this mailbox yet',
});
