import { Flags } from '@oclif/core';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List conversations, newest first',
  examples: [
    ['List the conversations with an unanswered message', 'svc conversations list --status active'],
    ['List the conversations with a tag', 'svc conversations list --tag billing'],
  ],
  flags: {
    status: Flags.string({
      description: 'Only this status: active, waiting, resolved or archived',
    }),
    tag: Flags.string({ description: 'Only conversations with this tag' }),
    'external-id': Flags.string({ description: 'Only conversations with this id of your own' }),
    'contact-id': Flags.string({
      description: 'Only conversations with this contact',
      helpValue: 'ID',
    }),
  },
  route: async () => (await import('../../src/conversations/routes.ts')).conversationRoutes.list,
  columns: ['id', 'title', 'status', 'tags', 'messageCount', 'lastActivityAt'],
  whenEmpty: 'No conversations found. Create one: svc conversations create --title TITLE',
});
