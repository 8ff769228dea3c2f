import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Create a group of contacts',
  examples: [['Create an empty group', 'svc groups create --name Testers']],
  flags: {
    name: Flags.string({ description: 'Name of the group' }),
    description: Flags.string({ description: 'Description of its members' }),
    ...dataFlag,
  },
  route: async () =>
    (await import('../../src/contacts/groups/routes.ts')).contactGroupRoutes.create,
  card,
});
