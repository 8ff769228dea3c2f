import { conversationRoutes } from '../../src/people/conversations/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [
    ['List the conversations with an unanswered message', 'svc conversations list --status active'],
    ['List the conversations with a tag', 'svc conversations list --tag billing'],
  ],
  route: conversationRoutes.list,
  columns: ['id', 'title', 'status', 'tags', 'messageCount', 'lastActivityAt'],
  whenEmpty: 'No conversations found. Create one: svc conversations create --title TITLE',
});
