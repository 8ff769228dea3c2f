import { idArg, showCommand } from '../base/verbs.ts';

export const args = idArg('Id of the conversation (conv_…)');

export const card = [
  ...['id', 'title', 'status', 'statusReason', 'externalId', 'tags', 'urgency', 'priority'],
  ...['messageCount', 'contacts.name', 'lastActivityAt', 'lastHumanActivityAt'],
  ...['resolutionType', 'resolutionNotes', 'resolvedAt', 'archivedAt', 'createdAt', 'updatedAt'],
];

export default showCommand({
  summary: 'Show a conversation',
  examples: [
    ['Show the state of a conversation', 'svc conversations show conv_06dq2k0qz8h3v5m1r9t4w7xy'],
  ],
  args,
  route: async () =>
    (await import('../../src/people/conversations/routes.ts')).conversationRoutes.get,
  card,
});
