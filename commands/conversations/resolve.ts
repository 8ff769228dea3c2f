import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Resolve an active or waiting conversation',
  description: 'The next message from outside makes it active again.',
  examples: [
    [
      'Resolve a conversation with a note',
      'svc conversations resolve conv_06dq2k0qz8h3v5m1r9t4w7xy --notes "Refunded"',
    ],
  ],
  args,
  flags: {
    type: Flags.string({ description: 'Kind of resolution: automated, manual or abandoned' }),
    notes: Flags.string({ description: 'Notes on the resolution' }),
    reason: Flags.string({ description: 'Reason for the new status' }),
    ...dataFlag,
  },
  fields: { type: 'resolutionType', notes: 'resolutionNotes', reason: 'statusReason' },
  route: async () => (await import('../../src/conversations/routes.ts')).conversationRoutes.resolve,
  card,
});
