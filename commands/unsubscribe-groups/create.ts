import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Make an unsubscribe group: a kind of mail that recipients can leave',
  examples: [['A newsletter', 'svc unsubscribe-groups create --name Newsletter']],
  flags: {
    name: Flags.string({ description: 'What recipients read where they leave' }),
    description: Flags.string({ description: 'What kind of mail it is' }),
    ...dataFlag,
  },
  route: async () =>
    (await import('../../src/unsubscribe-groups/routes.ts')).unsubscribeGroupRoutes.create,
  card,
});
