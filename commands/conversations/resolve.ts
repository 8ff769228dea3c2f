import { resolveInput } from '../../src/people/conversations/schema.ts';
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
  body: resolveInput,
  names: { statusReason: 'reason', resolutionType: 'type', resolutionNotes: 'notes' },
  route: async () =>
    (await import('../../src/people/conversations/routes.ts')).conversationRoutes.resolve,
  card,
});
