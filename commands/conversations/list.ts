import { Flags } from '@oclif/core';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List conversations, newest first',
  examples: [
    ['What is to be answered', 'svc conversations list --status active'],
    ['With a tag', 'svc conversations list --tag billing'],
  ],
  flags: {
    status: Flags.string({ description: 'active, waiting, resolved or archived' }),
    tag: Flags.string({ description: 'Only with this tag' }),
    'external-id': Flags.string({ description: 'Only with this id of your own' }),
    'contact-id': Flags.string({ description: 'Only with this contact', helpValue: 'ID' }),
  },
  route: async () => (await import('../../src/conversations/routes.ts')).conversationRoutes.list,
  columns: ['id', 'title', 'status', 'tags', 'messageCount', 'lastActivityAt'],
  whenEmpty: 'No such conversations: svc conversations create --title TITLE',
});
