import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Resolve a conversation that is active or waiting',
  description: 'The next message that comes in makes it active again.',
  examples: [
    ['Done', 'svc conversations resolve conv_06dq2k0qz8h3v5m1r9t4w7xy --notes "Refunded"'],
  ],
  args,
  flags: {
    type: Flags.string({ description: 'automated, manual or abandoned' }),
    notes: Flags.string({ description: 'How it was resolved' }),
    reason: Flags.string({ description: 'Why' }),
    ...dataFlag,
  },
  fields: { type: 'resolutionType', notes: 'resolutionNotes', reason: 'statusReason' },
  route: async () => (await import('../../src/conversations/routes.ts')).conversationRoutes.resolve,
  card,
});
