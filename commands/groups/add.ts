import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

/** The contact that the command is about. */
export const whom = {
  flags: {
    contact: Flags.string({
      description: 'Id of a contact; may be repeated, at most 10,000 times',
      multiple: true,
    }),
    ...dataFlag,
  },
  fields: { contact: 'contactIds' },
};

export default updateCommand({
  summary: 'Add contacts to a group',
  examples: [
    [
      'Add a contact',
      'svc groups add grp_06dq2k0qz8h3v5m1r9t4w7xy --contact contact_06dq2k0qz8h3v5m1r9t4w7xy',
    ],
    ['Add the contacts of a file', 'svc groups add grp_06dq2k0qz8h3v5m1r9t4w7xy --data @ids.json'],
  ],
  args,
  ...whom,
  route: async () => (await import('../../src/contacts/groups/routes.ts')).contactGroupRoutes.add,
  card,
});
