import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Create a conversation',
  examples: [
    [
      'Create a conversation with a tag',
      'svc conversations create --title "A late invoice" --tag billing',
    ],
    [
      'Create a conversation with more fields',
      `svc conversations create --data '{"urgency":"high","isPrivate":true}'`,
    ],
  ],
  flags: {
    title: Flags.string({ description: 'Title of the conversation' }),
    description: Flags.string({ description: 'Description of the conversation' }),
    'external-id': Flags.string({ description: 'Your own id of the conversation' }),
    urgency: Flags.string({ description: 'Urgency: low, normal, high or urgent' }),
    tag: Flags.string({ description: 'Tag of the conversation; may be repeated', multiple: true }),
    ...dataFlag,
  },
  fields: { tag: 'tags' },
  route: async () => (await import('../../src/conversations/routes.ts')).conversationRoutes.create,
  card,
});
