// Input and output shapes of campaigns and their runs (specification 2.13, 4.8).
import { z } from 'zod';
import { noun } from '../../core/api/noun.ts';
import { runStatuses, runWaitReasons } from '../../people/runs/schema.ts';

export const campaignNoun = noun('campaign', 'camp');

export const runNoun = noun('campaign-run', 'run');

const time = z.string().nullable();

const contentSnapshot = z.object({
  channel: z.literal('email'),
  email: z.object({
    subject: z.string().nullable(),
    html: z.string().nullable(),
    text: z.string().nullable(),
    attachments: z.array(
      z.object({
        filename: z.string(),
        content: z.string().nullable(),
        mediaId: z.string().nullable(),
        contentType: z.string(),
        size: z.number(),
      }),
    ),
    publicationId: z
      .string()
      .nullable()
      .meta({ description: 'Id of the published version of the template' }),
    inputContractId: z.string().nullable(),
    templateId: z.string().nullable(),
    templateSlug: z.string().nullable(),
    templateData: z.record(z.string(), z.unknown()).nullable(),
    inReplyToMessageId: z.string().nullable(),
    replyTo: z.array(z.string()),
    unsubscribeGroupId: z.string().nullable(),
    tracking: z.object({ opens: z.boolean(), clicks: z.boolean() }),
    footer: z.object({ enabled: z.boolean() }),
  }),
  conversationId: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
});

const audienceSnapshot = z.object({
  includeTags: z.array(z.string()),
  excludeTags: z.array(z.string()),
  contactIds: z.array(z.string()),
  groupIds: z.array(z.string()),
});

const policySnapshot = z.object({
  unsubscribeGroupId: z.string().nullable(),
  pageSize: z.number().meta({ description: 'Contacts that one transaction judges' }),
});

const stats = z
  .object({
    sent: z.number(),
    delivered: z.number(),
    bounced: z.number(),
    complained: z.number(),
    opened: z.number(),
    clicked: z.number(),
    unsubscribed: z.number(),
    failed: z.number(),
  })
  .meta({ id: 'RunStats', description: 'Messages of a run by their fate' });

/** A run without its content and its audience, which can be large: in lists and in events. */
export const runSummary = z
  .object({
    id: z.string(),
    organizationId: z.string(),
    campaignId: z.string(),
    status: z.enum(runStatuses),
    scheduledFor: time,
    idempotencyKey: z.string().nullable(),
    retryOf: z
      .string()
      .nullable()
      .meta({ description: 'Run whose failed contacts this one repeats' }),
    onlyNew: z.boolean().meta({ description: 'Leaves out contacts of earlier runs' }),
    startedAt: time,
    completedAt: time,
    policySnapshot: policySnapshot.nullable(),
    totalRecipients: z
      .number()
      .meta({ description: 'Judged contacts; until the run is completed, an estimate' }),
    dispatchedCount: z.number().meta({ description: 'Contacts with a message' }),
    failedCount: z.number().meta({ description: 'Contacts for whom no message could be made' }),
    skippedCount: z.number().meta({ description: 'Contacts that were left out' }),
    failureReason: z.string().nullable(),
    holdReason: z.string().nullable(),
    holdDomainId: z.string().nullable(),
    holdDetail: z
      .string()
      .nullable()
      .meta({ description: 'Rates that held the run, or the reply of a provider' }),
    lastContactId: z.string().nullable().meta({ description: 'The last judged contact' }),
    waitReason: z
      .enum(runWaitReasons)
      .nullable()
      .meta({ description: 'Reason to wait while it is running' }),
    nextDispatchAt: time.meta({ description: 'End of that wait, as far as it is known' }),
    stats,
    isTest: z.boolean().meta({ description: 'Whether a test key made it' }),
    createdBy: z
      .string()
      .nullable()
      .meta({ description: 'Id of the key that made it; null for the operator' }),
    actorEmail: z.string().nullable().meta({ description: 'Null: keys have no address' }),
    memberRole: z.string().nullable().meta({ description: 'Role of that key' }),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'CampaignRunSummary', description: 'A run without its content and audience' });

export const runOutput = runSummary
  .extend({
    contentSnapshot: contentSnapshot
      .nullable()
      .meta({ description: 'Content as it was at the start; null before' }),
    audienceSnapshot: audienceSnapshot
      .nullable()
      .meta({ description: 'Audience as it was at the start; null before' }),
  })
  .meta({ id: 'CampaignRun', description: 'One sending of a campaign to its audience' });

export type RunSummary = z.output<typeof runSummary>;
export type Run = z.output<typeof runOutput>;
