// Input and output shapes of conversations (specification 2.7, 4.5).
import { z } from 'zod';
import { headerText } from '../../core/api/address-schema.ts';
import { boundedMap } from '../../core/api/bounded-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idOf, idPath } from '../../core/api/resource-schema.ts';
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
/** Limit of the context as JSON, as events carry it. */
const longestContext = 32 * 1024;

export const conversationPath = idPath(conversationNoun, 'a conversation');

const line = headerText(200).min(1);
const text = z.string().min(1).max(longestText);
/** Tags and metadata have the rules of contacts. */
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
    customerData: values.nullish(),
    previousConversations: steps.nullish(),
    sessionVariables: values.nullish(),
    workflowState: z
      .strictObject({
        currentStep: line.nullish(),
        completedSteps: steps.nullish(),
        pendingSteps: steps.nullish(),
        workflowData: values.nullish(),
      })
      .nullish(),
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
  urgency: z.enum(urgencies).optional().meta({ description: 'Urgency' }),
  complexity: z.enum(complexities).nullable().optional().meta({ description: 'Complexity' }),
  tags: tags.meta({ description: 'Tags of the conversation' }),
  categories: z
    .array(line)
    .max(mostCategories)
    .optional()
    .meta({ description: 'Categories of the conversation' }),
  metadata,
  context: contextInput.nullable().optional(),
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
    id: z.string(),
    title: orNull,
    externalId: orNull,
    status: z.enum(conversationStatuses),
    primaryChannel: z.literal('email'),
    channels: z.array(z.literal('email')),
    priority: z.number().meta({ description: 'From 0 to 100' }),
    urgency: z.enum(urgencies),
    tags: z.array(z.string()),
    isTest: z.boolean().meta({ description: 'Created with a test key' }),
    messageCount: z.number(),
    lastActivityAt: orNull.meta({ description: 'Time of its newest message' }),
    createdAt: z.string(),
    description: orNull,
    parentConversationId: orNull,
    statusReason: orNull,
    complexity: z.enum(complexities).nullable(),
    categories: z.array(z.string()),
    metadata: json,
    context: z.object({
      customerData: json,
      previousConversations: z.array(z.string()),
      sessionVariables: json,
      workflowState: z.object({
        currentStep: orNull,
        completedSteps: z.array(z.string()),
        pendingSteps: z.array(z.string()),
        workflowData: json,
      }),
    }),
    isInternal: z.boolean(),
    isPrivate: z.boolean(),
    contacts: z
      .array(
        z.object({
          id: z.string(),
          name: orNull,
          displayName: orNull,
          identities: z.array(
            z.object({
              channel: z.literal('email'),
              identifier: z.string(),
              verified: z.boolean(),
            }),
          ),
        }),
      )
      .meta({ description: 'Contacts in its messages; 20 at most' }),
    startedAt: orNull.meta({ description: 'Time of its first message' }),
    lastHumanActivityAt: orNull.meta({
      description: 'Time of its newest message by a person: no auto-reply, no service key',
    }),
    resolvedAt: orNull,
    archivedAt: orNull,
    resolutionType: z.enum(resolutionTypes).nullable(),
    resolutionNotes: orNull,
    updatedAt: z.string(),
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
