import { tagsInput } from '../../src/people/conversations/schema.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Remove tags from a conversation',
  examples: [
    ['Remove a tag', 'svc conversations untag conv_06dq2k0qz8h3v5m1r9t4w7xy --tag billing'],
  ],
  args,
  body: tagsInput,
  route: async () =>
    (await import('../../src/people/conversations/routes.ts')).conversationRoutes.untag,
  card,
});
