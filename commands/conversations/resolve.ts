import { conversationRoutes } from '../../src/people/conversations/routes.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  description: 'The next message from outside makes it active again.',
  examples: [
    [
      'Resolve a conversation with a note',
      'svc conversations resolve conv_06dq2k0qz8h3v5m1r9t4w7xy --notes "Refunded"',
    ],
  ],
  args,
  names: { statusReason: 'reason', resolutionType: 'type', resolutionNotes: 'notes' },
  route: conversationRoutes.resolve,
  card,
});
