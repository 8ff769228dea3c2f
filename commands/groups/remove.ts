import { updateCommand } from '../base/verbs.ts';
import { whom } from './add.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Take contacts out of a group',
  examples: [
    [
      'One of them',
      'svc groups remove grp_06dq2k0qz8h3v5m1r9t4w7xy --contact contact_06dq2k0qz8h3v5m1r9t4w7xy',
    ],
    ['Many', 'svc groups remove grp_06dq2k0qz8h3v5m1r9t4w7xy --data @ids.json'],
  ],
  args,
  ...whom,
  route: async () =>
    (await import('../../src/contacts/groups/routes.ts')).contactGroupRoutes.remove,
  card,
});
