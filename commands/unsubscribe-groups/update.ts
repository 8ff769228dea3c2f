import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change an unsubscribe group: its name or description',
  examples: [
    ['Rename a group', 'svc unsubscribe-groups update usg_06dq2k0qz8h3v5m1r9t4w7xy --name News'],
  ],
  args,
  flags: {
    name: Flags.string({ description: 'New name' }),
    description: Flags.string({ description: 'New description' }),
    ...dataFlag,
  },
  route: async () =>
    (await import('../../src/unsubscribe-groups/routes.ts')).unsubscribeGroupRoutes.update,
  card,
});
