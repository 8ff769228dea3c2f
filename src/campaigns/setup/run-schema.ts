// Input and output shapes of runs (specification 2.13, 4.8).
import { z } from 'zod';
import { templateWarning } from '../../content/rendering/schema.ts';
import { headerText } from '../../core/api/address-schema.ts';
import { cursorPageOf, cursorQuery } from '../../core/api/pagination.ts';
import { idOf, instantAs, timeRange } from '../../core/api/resource-schema.ts';
import { messageStatuses } from '../../outbound/deliveries/status.ts';
import {
  runOutcomes,
  runStatuses,
  runWaitReasons,
  type SkipReason,
  skipReasons,
} from '../../run-ledger/schema.ts';
import { audienceInput } from '../audience/schema.ts';
import { campaignId, previewOutput, runNoun } from './schema.ts';

export const runPath = z.strictObject({
  id: campaignId.describe('Id of the campaign'),
  runId: idOf(runNoun, 'is not a run id').describe('Id of the run'),
});

const time = z.string().nullable();

const instant = instantAs(
  'must be an ISO 8601 time with its offset, such as 2026-01-05T12:00:00Z',
).transform((text) => Date.parse(text));

const idempotencyKey = headerText(255)
  .min(1)
  .nullish()
  .meta({ description: 'Repeating a request with the same key returns the original run' });

export const createRunInput = z
  .strictObject({
    scheduledFor: instant
      .nullish()
      .meta({ description: 'Time of the start: not past, and within a year (default: now)' }),
    idempotencyKey,
    onlyNew: z
      .boolean()
      .optional()
      .meta({ description: 'Leave out contacts of earlier runs of the campaign' }),
  })
  .meta({
    examples: [
      { scheduledFor: '2026-01-05T12:00:00.000Z', idempotencyKey: 'newsletter-2026-01' },
      {},
    ],
  });

export const estimateQuery = z.strictObject({
  scheduledFor: instant
    .optional()
    .meta({ description: 'Time of the start, ISO 8601 with an offset (default: now)' }),
});

/** Audience of a campaign that is not saved yet. */
export const estimateAudienceInput = z.strictObject({
  audience: audienceInput,
  unsubscribeGroupId: z.string().max(40).nullable(),
});

const skipped: Readonly<Record<SkipReason, string>> = {
  excluded: 'Contacts with an excluded tag',
  archived: 'Archived contacts',
  'no-address': 'Contacts without an address',
  blocked: 'Contacts whose address is blocked',
  unsubscribed: 'Contacts that left the unsubscribe group, or all mail',
  pending: 'Contacts that have not confirmed the double opt-in group',
  preference: 'Contacts that want no campaigns by email',
  duplicate: 'Contacts whose address already gets the mail',
};

export const estimateOutput = z
  .object({
    total: z.number().meta({ description: 'Contacts of the audience' }),
    dispatch: z.number().meta({ description: 'Contacts that would get a message' }),
    skipped: z
      .object(
        Object.fromEntries(
          skipReasons.map((reason) => [reason, z.number().describe(skipped[reason])]),
        ),
      )
      .meta({ description: 'Contacts that would be left out, by reason' }),
    firstAt: time.meta({ description: 'Time of the first message; null for none' }),
    lastAt: time.meta({
      description: 'Time of the last message; null if a limit never lets it go',
    }),
    limitedBy: z
      .enum(['rate', 'daily-quota', 'warming'])
      .nullable()
      .meta({ description: 'Limit that takes longest; null without one' }),
    warnings: z.array(templateWarning).describe('Advice on the content'),
    mail: previewOutput.nullable().meta({
      description:
        'The mail of a run that is made now, without values of a contact; null if it cannot be ' +
        'made: `warnings` has the reason',
    }),
  })
  .meta({ id: 'CampaignEstimate', description: 'A run of a campaign before it is made' });

export const retryRunInput = z
  .strictObject({ idempotencyKey })
  .meta({ examples: [{ idempotencyKey: 'newsletter-2026-01-again' }] });

const longestNote = 500;
const note = headerText(longestNote)
  .min(1)
  .optional()
  .meta({ description: 'Reason, for the audit' });

export const decideRunInput = z
  .strictObject({ note })
  .meta({ examples: [{ note: 'The prices are wrong' }] });

export const resumeRunInput = z
  .strictObject({
    note: note.meta({
      description: 'Findings of the review, for the audit; a held run needs them',
    }),
  })
  .meta({ examples: [{ note: 'The list has been cleaned' }] });

export const listRunsQuery = z.strictObject({ ...cursorQuery, ...timeRange('runs created') });

export const listRecipientsQuery = z.strictObject({
  ...timeRange('contacts judged'),
  outcome: z.enum(runOutcomes).optional().meta({ description: 'Only contacts with this outcome' }),
  reason: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'Only contacts that failed or were skipped for this reason' }),
  status: z
    .enum(messageStatuses)
    .optional()
    .meta({ description: 'Only contacts whose message has this status now' }),
  ...cursorQuery,
});

const contentSnapshot = z.object({
  channel: z.literal('email').describe('Always `email`'),
  email: z
    .object({
      subject: z.string().nullable().describe('Subject line; null with a template'),
      html: z.string().nullable().describe('HTML; null with a template, or without any'),
      text: z.string().nullable().describe('Plain text; null with a template, or without any'),
      attachments: z
        .array(
          z.object({
            filename: z.string().describe('Name of the file, such as invoice.pdf'),
            content: z.string().nullable().describe('The file in base64; null if it is left out'),
            mediaId: z.string().nullable().describe('Id of the stored file; null without one'),
            contentType: z.string().describe('Media type'),
            size: z.number().describe('Size in bytes'),
          }),
        )
        .describe('Attached files'),
      publicationId: z
        .string()
        .nullable()
        .meta({ description: 'Id of the published version of the template' }),
      inputContractId: z
        .string()
        .nullable()
        .describe('Id of the input contract of the template; null without one'),
      templateId: z.string().nullable().describe('Template; null for inline content'),
      templateSlug: z.string().nullable().describe('Slug of the template; null for inline content'),
      templateData: z
        .record(z.string(), z.unknown())
        .nullable()
        .describe('Values for the template; null without any'),
      inReplyToMessageId: z
        .string()
        .nullable()
        .describe('Message that the mail answers; null without one'),
      replyTo: z.array(z.string()).describe('Addresses that replies go to'),
      unsubscribeGroupId: z.string().nullable().describe('Unsubscribe group; null without one'),
      tracking: z
        .object({
          opens: z.boolean().describe('Whether opens are recorded'),
          clicks: z.boolean().describe('Whether clicks are recorded'),
        })
        .describe('Tracking of the mail'),
      footer: z
        .object({ enabled: z.boolean().describe('Whether the mail has the footer') })
        .describe('Footer of the mail'),
    })
    .describe('Content of the mail'),
  conversationId: z
    .string()
    .nullable()
    .describe('Conversation that all messages join; null without one'),
  metadata: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('Values kept with each message; null without any'),
});

const audienceSnapshot = z.object({
  includeTags: z.array(z.string()).describe('Contacts with at least one of these tags'),
  excludeTags: z.array(z.string()).describe('Contacts with such a tag are left out'),
  contactIds: z.array(z.string()).describe('Contacts by id'),
  groupIds: z.array(z.string()).describe('Contacts of these groups'),
});

const policySnapshot = z.object({
  unsubscribeGroupId: z
    .string()
    .nullable()
    .describe('Unsubscribe group that recipients can leave; null without one'),
  pageSize: z.number().meta({ description: 'Contacts that one transaction judges' }),
});

const stats = z
  .object({
    sent: z.number().describe('Messages that a server accepted'),
    delivered: z.number().describe('Messages that count as delivered'),
    bounced: z.number().describe('Messages that bounced'),
    complained: z.number().describe('Messages that were reported as spam'),
    opened: z.number().describe('Messages that were opened'),
    clicked: z.number().describe('Messages with a click'),
    unsubscribed: z.number().describe('Messages whose recipient unsubscribed'),
    failed: z.number().describe('Messages that were given up'),
  })
  .meta({ id: 'RunStats', description: 'Messages of a run by their fate' });

/** A run without content and audience, which can be large: in lists and in events. */
export const runSummary = z
  .object({
    id: z.string().describe('Id of the run'),
    organizationId: z.string().describe('Organization of the run'),
    campaignId: z.string().describe('Campaign of the run'),
    status: z.enum(runStatuses).describe('State of the run'),
    scheduledFor: time.describe('Planned start; null: at once'),
    idempotencyKey: z
      .string()
      .nullable()
      .describe('Idempotency key of the request; null without one'),
    retryOf: z
      .string()
      .nullable()
      .meta({ description: 'Run whose failed contacts this one repeats' }),
    onlyNew: z.boolean().meta({ description: 'Leaves out contacts of earlier runs' }),
    startedAt: time.describe('Time of the start; null before'),
    completedAt: time.describe('Time of the end; null before'),
    policySnapshot: policySnapshot
      .nullable()
      .describe('Rules as they were at the start; null before'),
    totalRecipients: z
      .number()
      .meta({ description: 'Judged contacts; until the run is completed, an estimate' }),
    dispatchedCount: z.number().meta({ description: 'Contacts with a message' }),
    failedCount: z.number().meta({ description: 'Contacts for whom no message could be made' }),
    skippedCount: z.number().meta({ description: 'Contacts that were left out' }),
    failureReason: z.string().nullable().describe('Reason of the failure; null without one'),
    holdReason: z.string().nullable().describe('Reason of the hold or pause; null without one'),
    holdDomainId: z.string().nullable().describe('Sending domain that is held; null without one'),
    holdDetail: z
      .string()
      .nullable()
      .meta({ description: 'Rates that held the run, or the reply of a provider' }),
    lastContactId: z.string().nullable().meta({ description: 'The last judged contact' }),
    waitReason: z
      .enum(runWaitReasons)
      .nullable()
      .meta({ description: 'Reason to wait before it starts, or while it is running' }),
    nextDispatchAt: time.meta({ description: 'End of that wait, as far as it is known' }),
    stats: stats.describe('Messages of the run by their fate'),
    isTest: z.boolean().meta({ description: 'Whether a test key made it' }),
    createdBy: z
      .string()
      .nullable()
      .meta({ description: 'Key or member that made it; null for the operator' }),
    actorEmail: z
      .string()
      .nullable()
      .meta({ description: 'Address of the member; null for a key' }),
    memberRole: z.string().nullable().meta({ description: 'Role of that key or member' }),
    createdAt: z.string().describe('Time of creation'),
    updatedAt: z.string().describe('Time of the last change'),
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

export const runPage = cursorPageOf(runSummary);

const recipientOutput = z
  .object({
    contactId: z.string().describe('Id of the contact'),
    outcome: z
      .enum(runOutcomes)
      .describe('dispatched: a message was made; failed: none could be made; skipped: left out'),
    reason: z.string().nullable().meta({ description: 'Reason of a contact without a message' }),
    messageId: z.string().nullable().describe('Message to the contact; null without one'),
    status: z
      .enum(messageStatuses)
      .nullable()
      .meta({ description: 'Status of the message now; null without one' }),
    openedAt: time.describe('Time of the first open; null without one'),
    clickedAt: time.describe('Time of the first click; null without one'),
    createdAt: z.string().describe('Time at which the contact was checked'),
  })
  .meta({ id: 'RunRecipient', description: 'A contact that a run has checked' });

export const recipientPage = cursorPageOf(recipientOutput);

export type EstimateAudience = z.output<typeof estimateAudienceInput>;
export type EstimateCampaign = z.output<typeof estimateQuery>;
export type Estimate = z.output<typeof estimateOutput>;
export type CreateRun = z.output<typeof createRunInput>;
export type RetryRun = z.output<typeof retryRunInput>;
export type DecideRun = z.output<typeof decideRunInput>;
export type ListRuns = z.output<typeof listRunsQuery>;
export type ListRecipients = z.output<typeof listRecipientsQuery>;
export type RunRecipient = z.output<typeof recipientOutput>;
