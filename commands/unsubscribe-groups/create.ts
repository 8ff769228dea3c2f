import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Create an unsubscribe group: a kind of mail to leave',
  examples: [
    ['Create a group for a newsletter', 'svc unsubscribe-groups create --name Newsletter'],
  ],
  flags: {
    name: Flags.string({ description: 'Name that recipients read on the unsubscribe page' }),
    description: Flags.string({ description: 'Kind of mail, for recipients' }),
    ...dataFlag,
  },
  route: async () =>
    (await import('../../src/unsubscribe-groups/routes.ts')).unsubscribeGroupRoutes.create,
  card,
});
