import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { createCommand } from '../base/verbs.ts';
import { card } from './show.ts';

export default createCommand({
  summary: 'Make a conversation',
  examples: [
    ['With a tag', 'svc conversations create --title "A late invoice" --tag billing'],
    ['More fields', `svc conversations create --data '{"urgency":"high","isPrivate":true}'`],
  ],
  flags: {
    title: Flags.string({ description: 'What it is about' }),
    description: Flags.string({ description: 'More of that' }),
    'external-id': Flags.string({ description: 'An id of your own' }),
    urgency: Flags.string({ description: 'low, normal, high or urgent' }),
    tag: Flags.string({ description: 'A tag; may be repeated', multiple: true }),
    ...dataFlag,
  },
  fields: { tag: 'tags' },
  route: async () => (await import('../../src/conversations/routes.ts')).conversationRoutes.create,
  card,
});
