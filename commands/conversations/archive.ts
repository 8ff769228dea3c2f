import { moveInput } from '../../src/people/conversations/schema.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Archive a conversation',
  examples: [
    ['Archive a conversation by its id', 'svc conversations archive conv_06dq2k0qz8h3v5m1r9t4w7xy'],
  ],
  args,
  body: moveInput,
  names: { statusReason: 'reason' },
  route: async () =>
    (await import('../../src/people/conversations/routes.ts')).conversationRoutes.archive,
  card,
});
