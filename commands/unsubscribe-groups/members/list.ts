import { memberRoutes } from '../../../src/consent/opt-in/routes.ts';
import { listCommand } from '../../base/verbs.ts';
import { args } from '../show.ts';

const columns = ['contactId', 'status', 'confirmedAt', 'mails', 'lastMailAt', 'nextMailAt'];

export default listCommand({
  summary: 'List the members of a double opt-in group',
  examples: [
    ['List all members', 'svc unsubscribe-groups members list usg_06dq2k0qz8h3v5m1r9t4w7xy'],
    [
      'List the contacts that have not confirmed',
      'svc unsubscribe-groups members list usg_06dq2k0qz8h3v5m1r9t4w7xy --status pending',
    ],
  ],
  args,
  route: memberRoutes.members,
  columns,
  whenEmpty:
    'No members found. Add one: svc unsubscribe-groups members add GROUP --contact CONTACT',
  looks: ({ items, nextCursor }) => ({
    rows: items,
    note: nextCursor === null ? '' : `More with --cursor ${nextCursor}`,
  }),
});
