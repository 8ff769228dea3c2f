import { memberRoutes } from '../../../src/consent/opt-in/routes.ts';
import { updateCommand } from '../../base/verbs.ts';
import { args } from '../show.ts';

export default updateCommand({
  summary: 'Add contacts to a double opt-in group, to be confirmed',
  description:
    'Each contact is pending and gets a mail with a link to confirm: at most one an hour, and ' +
    'three in all. A confirmed contact stays so.',
  examples: [
    [
      'Add a contact',
      'svc unsubscribe-groups members add usg_06dq2k0qz8h3v5m1r9t4w7xy --contact contact_06dq2k0qz8h3v5m1r9t4w7xy',
    ],
  ],
  args,
  names: { contactIds: 'contact' },
  route: memberRoutes.add,
  view: async ({ items }) => {
    const { table } = await import('../../base/output/format.ts');
    return table(items, ['contactId', 'status', 'result', 'mails', 'nextMailAt']);
  },
});
