import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change a conversation',
  examples: [
    [
      'Make a conversation urgent',
      'svc conversations update conv_06dq2k0qz8h3v5m1r9t4w7xy --urgency urgent',
    ],
  ],
  args,
  flags: {
    title: Flags.string({ description: 'New title' }),
    description: Flags.string({ description: 'New description' }),
    'external-id': Flags.string({ description: 'Your own id of the conversation' }),
    urgency: Flags.string({ description: 'New urgency: low, normal, high or urgent' }),
    ...dataFlag,
  },
  route: async () => (await import('../../src/conversations/routes.ts')).conversationRoutes.update,
  card,
});
