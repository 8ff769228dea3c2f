import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Make a group of contacts',
  examples: [['An empty one', 'svc groups create --name Testers']],
  flags: {
    name: Flags.string({ description: 'Name' }),
    description: Flags.string({ description: 'Who is in it' }),
    ...dataFlag,
  },
  route: async () =>
    (await import('../../src/contacts/groups/routes.ts')).contactGroupRoutes.create,
  card,
});
