import { listConversationsQuery } from '../../src/people/conversations/schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List conversations, newest first',
  examples: [
    ['List the conversations with an unanswered message', 'svc conversations list --status active'],
    ['List the conversations with a tag', 'svc conversations list --tag billing'],
  ],
  query: listConversationsQuery,
  route: async () =>
    (await import('../../src/people/conversations/routes.ts')).conversationRoutes.list,
  columns: ['id', 'title', 'status', 'tags', 'messageCount', 'lastActivityAt'],
  whenEmpty: 'No conversations found. Create one: svc conversations create --title TITLE',
});
