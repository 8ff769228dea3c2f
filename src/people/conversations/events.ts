// The kinds of events on a conversation.
import { eventKind } from '../../history/events/kinds.ts';
import { type Conversation, conversationOutput } from './schema.ts';

const at = '2026-01-05T12:00:00.000Z';

const sample: Conversation = {
  id: 'conv_06dq2k0qz8h3v5m1r9t4w7xy',
  title: 'A question about an invoice',
  externalId: null,
  status: 'active',
  primaryChannel: 'email',
  channels: ['email'],
  priority: 0,
  urgency: 'normal',
  tags: ['billing'],
  isTest: false,
  messageCount: 2,
  lastActivityAt: at,
  createdAt: at,
  description: null,
  parentConversationId: null,
  statusReason: 'msg_06dq2k0qz8h3v5m1r9t4w7xy came in',
  complexity: null,
  categories: [],
  metadata: {},
  context: {
    customerData: {},
    previousConversations: [],
    sessionVariables: {},
    workflowState: { currentStep: null, completedSteps: [], pendingSteps: [], workflowData: {} },
  },
  isInternal: false,
  isPrivate: false,
  contacts: [
    {
      id: 'contact_06dq2k0qz8h3v5m1r9t4w7xy',
      name: 'Ada',
      displayName: null,
      identities: [{ channel: 'email', identifier: 'ada@example.com', verified: false }],
    },
  ],
  startedAt: at,
  lastHumanActivityAt: at,
  resolvedAt: null,
  archivedAt: null,
  resolutionType: null,
  resolutionNotes: null,
  updatedAt: at,
};

export const conversationCreated = eventKind({
  type: 'conversation.created',
  summary: 'A conversation began',
  schema: conversationOutput,
  sample,
});

export const conversationUpdated = eventKind({
  type: 'conversation.updated',
  summary: 'A message was added, the status moved, or a field was changed',
  schema: conversationOutput,
  sample,
});
