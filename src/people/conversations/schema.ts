// Input and output shapes of conversations (specification 2.7, 4.5).
import { z } from 'zod';
import { headerText } from '../../core/api/address-schema.ts';
import { boundedMap } from '../../core/api/bounded-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idOf, idPath, timeRange } from '../../core/api/resource-schema.ts';
import {
  contactNoun,
  createContactInput,
  listContactsQuery,
  tagsInput,
} from '../contacts/schema.ts';

export const conversationNoun = noun('conversation', 'conv');

export { mostTags } from '../contacts/schema.ts';

export const conversationStatuses = ['active', 'waiting', 'resolved', 'archived'] as const;
const urgencies = ['low', 'normal', 'high', 'urgent'] as const;
const complexities = ['simple', 'moderate', 'complex'] as const;
const resolutionTypes = ['automated', 'manual', 'abandoned'] as const;

const mostCategories = 20;
const mostKeys = 50;
const mostSteps = 100;
const longestText = 5_000;
/** Longest context as JSON: events include it. */
const longestContext = 32 * 1024;

export const conversationPath = idPath(conversationNoun, 'a conversation');

const line = headerText(200).min(1);
const text = z.string().min(1).max(longestText);
/** Tags and metadata follow the same rules as in contacts. */
const { tags, metadata } = createContactInput.shape;
const { tag } = listContactsQuery.shape;

const values = boundedMap(
  z.record(
    z.string().min(1).max(100),
    z.union([z.string().max(longestText), z.number(), z.boolean(), z.null()]),
  ),
  mostKeys,
);
const steps = z.array(line).max(mostSteps);

const contextInput = z
  .strictObject({
    customerData: values.nullish().describe('Facts about the customer'),
    previousConversations: steps.nullish().describe('Earlier conversations, as ids or names'),
    sessionVariables: values.nullish().describe('Values of the session'),
    workflowState: z
      .strictObject({
        currentStep: line.nullish().describe('Present step'),
        completedSteps: steps.nullish().describe('Steps that are done'),
        pendingSteps: steps.nullish().describe('Steps that are left'),
        workflowData: values.nullish().describe('Values of the workflow'),
      })
      .nullish()
      .describe('State of a workflow of your own'),
  })
  .refine((context) => Buffer.byteLength(JSON.stringify(context)) <= longestContext, {
    message: 'is longer than 32 KB of JSON',
  });

const id = idOf(conversationNoun, 'is not a conversation id');

const fields = {
  title: line.nullable().optional().meta({ description: 'Title of the conversation' }),
  externalId: line
    .nullable()
    .optional()
    .meta({ description: 'Your own id of the conversation, unique in the organization' }),
  description: text.nullable().optional().meta({ description: 'Description of the conversation' }),
  parentConversationId: id
    .nullable()
    .optional()
    .meta({ description: 'Conversation that it continues, which may be deleted later' }),
  priority: z.int().min(0).max(100).optional().meta({ description: 'Priority, 0 to 100' }),
  urgency: z.enum(urgencies).optional().meta({ description: 'Haste of the answer' }),
  complexity: z
    .enum(complexities)
    .nullable()
    .optional()
    .meta({ description: 'Difficulty of the answer' }),
  tags: tags.meta({ description: 'Tags of the conversation' }),
  categories: z
    .array(line)
    .max(mostCategories)
    .optional()
    .meta({ description: 'Categories of the conversation' }),
  metadata: metadata.describe(
    'Values of your own by name, at most 50; an update replaces them whole',
  ),
  context: contextInput
    .nullable()
    .optional()
    .describe(
      'Facts for programs that answer, at most 32 KB of JSON; an update replaces them whole',
    ),
  isInternal: z.boolean().optional().meta({ description: 'Mark it as internal' }),
  isPrivate: z.boolean().optional().meta({ description: 'Mark it as private' }),
};

export const createConversationInput = z.strictObject(fields).meta({
  examples: [{ title: 'A question about an invoice', urgency: 'high', tags: ['billing'] }],
});

export const updateConversationInput = z
  .strictObject(fields)
  .meta({ examples: [{ urgency: 'low', priority: 10 }] });

export { tagsInput };

const statusReason = headerText(500)
  .min(1)
  .nullable()
  .optional()
  .meta({ description: 'Reason for the new status' });

export const moveInput = z
  .strictObject({ statusReason })
  .meta({ examples: [{ statusReason: 'The customer asked for it' }] });

export const resolveInput = z
  .strictObject({
    statusReason,
    resolutionType: z
      .enum(resolutionTypes)
      .optional()
      .meta({ description: 'Kind of resolution (default: manual)' }),
    resolutionNotes: text.nullable().optional().meta({ description: 'Notes on the resolution' }),
  })
  .meta({ examples: [{ resolutionType: 'manual', resolutionNotes: 'A new invoice was sent' }] });

export const listConversationsQuery = z.strictObject({
  ...pageQuery,
  ...timeRange('conversations created'),
  status: z.enum(conversationStatuses).optional().meta({ description: 'Only this status' }),
  tag: tag.meta({ description: 'Only conversations with this tag' }),
  externalId: line
    .optional()
    .meta({ description: 'Only the conversation with this id of your own' }),
  contactId: idOf(contactNoun, 'is not a contact id')
    .optional()
    .meta({ description: 'Only conversations with this contact' }),
});

const orNull = z.string().nullable();
const json = z.record(z.string(), z.unknown());

export const conversationOutput = z
  .object({
    id: z.string().describe('Id of the conversation'),
    title: orNull.describe('Title; null without one'),
    externalId: orNull.describe('Your own id of the conversation; null without one'),
    status: z
      .enum(conversationStatuses)
      .describe('State of the conversation; waiting: for an answer of the contact'),
    primaryChannel: z.literal('email').describe('Always `email`'),
    channels: z.array(z.literal('email')).describe('Channels of the messages'),
    priority: z.number().meta({ description: 'From 0 to 100' }),
    urgency: z.enum(urgencies).describe('Urgency as it was given'),
    tags: z.array(z.string()).describe('Tags of the conversation'),
    isTest: z.boolean().meta({ description: 'Created with a test key' }),
    messageCount: z.number().describe('Number of messages'),
    lastActivityAt: orNull.meta({ description: 'Time of its newest message' }),
    createdAt: z.string().describe('Time of creation'),
    description: orNull.describe('Description; null without one'),
    parentConversationId: orNull.describe('Conversation that it continues; null without one'),
    statusReason: orNull.describe('Reason of the status; null without one'),
    complexity: z
      .enum(complexities)
      .nullable()
      .describe('Complexity as it was given; null without one'),
    categories: z.array(z.string()).describe('Categories of the conversation'),
    metadata: json.describe('Values of your own by name'),
    context: z
      .object({
        customerData: json.describe('Facts about the customer'),
        previousConversations: z
          .array(z.string())
          .describe('Earlier conversations, as ids or names'),
        sessionVariables: json.describe('Values of the session'),
        workflowState: z
          .object({
            currentStep: orNull.describe('Present step; null without one'),
            completedSteps: z.array(z.string()).describe('Steps that are done'),
            pendingSteps: z.array(z.string()).describe('Steps that are left'),
            workflowData: json.describe('Values of the workflow'),
          })
          .describe('State of a workflow of your own'),
      })
      .describe('Facts for programs that answer'),
    isInternal: z.boolean().describe('Whether it is marked as internal'),
    isPrivate: z.boolean().describe('Whether it is marked as private'),
    contacts: z
      .array(
        z.object({
          id: z.string().describe('Id of the contact'),
          name: orNull.describe('Name of the contact; null without one'),
          displayName: orNull.describe('Name to show; null without one'),
          identities: z
            .array(
              z.object({
                channel: z.literal('email').describe('Always `email`'),
                identifier: z.string().describe('Email address'),
                verified: z.boolean().describe('Proven by mail from that address'),
              }),
            )
            .describe('Addresses of the contact'),
        }),
      )
      .meta({ description: 'Contacts in its messages; 20 at most' }),
    startedAt: orNull.meta({ description: 'Time of its first message' }),
    lastHumanActivityAt: orNull.meta({
      description: 'Time of its newest message by a person: no auto-reply, no service key',
    }),
    resolvedAt: orNull.describe('Time of the resolution; null before'),
    archivedAt: orNull.describe('Time of the archival; null before'),
    resolutionType: z
      .enum(resolutionTypes)
      .nullable()
      .describe('Kind of resolution; null without one'),
    resolutionNotes: orNull.describe('Notes on the resolution; null without any'),
    updatedAt: z.string().describe('Time of the last change'),
  })
  .meta({ id: 'Conversation', description: 'Messages that belong together' });

export type ConversationStatus = (typeof conversationStatuses)[number];
export type ContextInput = z.output<typeof contextInput>;
export type CreateConversation = z.output<typeof createConversationInput>;
export type UpdateConversation = z.output<typeof updateConversationInput>;
export type Move = z.output<typeof moveInput>;
export type Resolve = z.output<typeof resolveInput>;
export type ListConversations = z.output<typeof listConversationsQuery>;
export type Conversation = z.output<typeof conversationOutput>;
