import { conversationRoutes } from '../../src/people/conversations/routes.ts';
import { idArg, showCommand } from '../base/verbs.ts';

export const args = idArg('Id of the conversation (conv_…)');

export const card = [
  ...['id', 'title', 'status', 'statusReason', 'externalId', 'tags', 'urgency', 'priority'],
  ...['messageCount', 'contacts.name', 'lastActivityAt', 'lastHumanActivityAt'],
  ...['resolutionType', 'resolutionNotes', 'resolvedAt', 'archivedAt', 'createdAt', 'updatedAt'],
];

export default showCommand({
  examples: [
    ['Show the state of a conversation', 'svc conversations show conv_06dq2k0qz8h3v5m1r9t4w7xy'],
  ],
  args,
  route: conversationRoutes.get,
  card,
});
