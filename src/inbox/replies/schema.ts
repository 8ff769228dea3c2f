// Input and output schemas of sends from a mailbox: answers, forwards, new mail, drafts and
// decisions that send (specification 2.5, 4.4).

import { z } from 'zod';
import { headerText, notHeaderSafe } from '../../core/api/address-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { cursorPageOf, pageQuery } from '../../core/api/pagination.ts';
import { idOf, instant, timeRange } from '../../core/api/resource-schema.ts';
import { waitReasons } from '../../outbound/deliveries/status.ts';
import {
  attachmentList,
  bodyText,
  boundedAttachments,
  mostRecipients,
} from '../../outbound/messages/send-schema.ts';
import { isHeaderSafe } from '../../platform/net/address.ts';
import { picturedFile, pictureFields, unsentFields } from '../approvals/schema.ts';
import { authors } from '../threads/schema.ts';

export const draftNoun = noun('draft', 'draft');

const mailboxId = idOf('mailbox', 'is not a mailbox id');
const messageId = idOf('message', 'is not a message id');

export const mailboxOfMail = z.strictObject({ id: mailboxId.describe('Id of the mailbox') });
export const answerPath = z.strictObject({
  id: mailboxId.describe('Id of the mailbox'),
  messageId: messageId.describe('Message to answer or to forward'),
});
export const draftPath = z.strictObject({
  id: mailboxId.describe('Id of the mailbox'),
  draftId: idOf(draftNoun, 'is not the id of a draft').describe('Id of the draft'),
});

/**
 * Refuses text that would break a header. Accepts a malformed address: the send skips and reports
 * it.
 */
const address = z.string().max(320).refine(isHeaderSafe, notHeaderSafe);
const tooMany = `at most ${mostRecipients} recipients over to, cc and bcc`;
const addresses = z.array(address).max(mostRecipients, tooMany);

const subject = headerText(998);
const content = {
  text: bodyText.nullish().describe('Plain text of the mail'),
  html: bodyText.nullish().describe('HTML of the mail'),
  attachments: attachmentList.nullish().describe('Files to attach, 40 MB in all once encoded'),
};

interface Content {
  text?: string | null | undefined;
  html?: string | null | undefined;
  attachments?: { content: string }[] | null | undefined;
}

function needsContent({ text, html, attachments }: Content, context: z.RefinementCtx): void {
  if (text || html || (attachments?.length ?? 0) > 0) return;
  const message = 'needs text, html or an attachment';
  context.addIssue({ code: 'custom', path: ['text'], message });
}

function fitAttachments({ attachments }: Content, context: z.RefinementCtx): void {
  boundedAttachments({ attachments: attachments ?? undefined }, context);
}

interface Addressed {
  to?: string[] | null | undefined;
  cc?: string[] | null | undefined;
  bcc?: string[] | null | undefined;
}

function fewRecipients({ to, cc, bcc }: Addressed, context: z.RefinementCtx): void {
  const count = (to?.length ?? 0) + (cc?.length ?? 0) + (bcc?.length ?? 0);
  if (count <= mostRecipients) return;
  context.addIssue({ code: 'custom', path: [to ? 'to' : 'cc'], message: tooMany });
}

const delaySeconds = z
  .int()
  .min(0)
  .max(60)
  .optional()
  .meta({
    description:
      'Seconds before the delivery is due, 0 by default. Until then ' +
      '`POST /v1/messages/{id}/cancel` undoes the send: the mail becomes a draft',
  });

export const replyInput = z
  .strictObject({
    cc: addresses.nullish().describe('Addresses for Cc'),
    bcc: addresses.nullish().describe('Addresses for Bcc, hidden from all recipients'),
    ...content,
    delaySeconds,
  })
  .superRefine(needsContent)
  .superRefine(fitAttachments)
  .superRefine(fewRecipients)
  .meta({ examples: [{ text: 'Thank you, we will look into it.' }] });

export const forwardInput = z
  .strictObject({
    to: addresses
      .refine((list) => list.length > 0, 'needs at least one recipient')
      .describe('Addresses for To'),
    cc: addresses.nullish().describe('Addresses for Cc'),
    bcc: addresses.nullish().describe('Addresses for Bcc, hidden from all recipients'),
    ...content,
    delaySeconds,
  })
  .superRefine(fitAttachments)
  .superRefine(fewRecipients)
  .meta({ examples: [{ to: ['inbox@sandbox.test'], text: 'For your information.' }] });

export const newMessageInput = z
  .strictObject({
    to: addresses
      .refine((list) => list.length > 0, 'needs at least one recipient')
      .describe('Addresses for To'),
    cc: addresses.nullish().describe('Addresses for Cc'),
    bcc: addresses.nullish().describe('Addresses for Bcc, hidden from all recipients'),
    subject: subject.describe('Subject line'),
    ...content,
    delaySeconds,
  })
  .superRefine(needsContent)
  .superRefine(fitAttachments)
  .superRefine(fewRecipients)
  .meta({
    examples: [{ to: ['inbox@sandbox.test'], subject: 'Hello', text: 'It works.' }],
  });

const draftFields = {
  to: addresses.nullish().describe('Addresses for To'),
  cc: addresses.nullish().describe('Addresses for Cc'),
  bcc: addresses.nullish().describe('Addresses for Bcc, hidden from all recipients'),
  subject: subject.nullish().describe('Subject line'),
  ...content,
};

export const createDraftInput = z
  .strictObject({
    ...draftFields,
    inReplyToMessageId: messageId.nullish().meta({
      description: 'Message to answer: recipients and subject follow from it if they are left out',
    }),
  })
  .superRefine(fitAttachments)
  .superRefine(fewRecipients)
  .meta({ examples: [{ to: ['inbox@sandbox.test'], subject: 'Hello', text: 'Not yet.' }] });

const expectedUpdatedAt = instant.optional().meta({
  description:
    '`updatedAt` of the draft that was read; the answer is 409 if the draft has changed ' + 'since',
});

export const updateDraftInput = z
  .strictObject({ ...draftFields, expectedUpdatedAt })
  .superRefine(fitAttachments)
  .superRefine(fewRecipients)
  .meta({ examples: [{ text: 'Now it is.' }] });

export const sendDraftInput = z
  .strictObject({
    expectedUpdatedAt,
    delaySeconds,
    expectedDigest: z
      .string()
      .max(100)
      .optional()
      .meta({
        description:
          '`digest` of the draft that was read; the answer is 409 if another mail would leave ' +
          'now: also From and Reply-To, which its mailbox and sender give',
      }),
  })
  .meta({ examples: [{ expectedUpdatedAt: '2026-01-02T03:04:05.678Z' }] });

export const listDraftsQuery = z.strictObject({
  ...timeRange('drafts created'),
  limit: pageQuery.limit,
  cursor: z.string().max(200).optional().meta({ description: '`nextCursor` of the page before' }),
});

export const draftOutput = z
  .object({
    id: z.string().describe('Id of the draft'),
    mailboxId: z.string().describe('Mailbox of the draft'),
    threadId: z.string().describe('Thread of the draft'),
    inReplyToMessageId: z
      .string()
      .nullable()
      .describe('Message that the draft answers; null for new mail'),
    ...unsentFields,
    contentOmitted: z.boolean().meta({
      description: 'In lists, text and html of a draft over 64 KB are null',
    }),
    attachments: z
      .array(
        z.object({
          filename: z.string().describe('Name of the file, such as invoice.pdf'),
          contentType: z.string().nullable().describe('Media type; null if not given'),
          size: z.int().meta({ description: 'Size in bytes' }),
        }),
      )
      .describe('Attached files'),
    ...authors,
    actionId: z.string().nullable().meta({ description: 'Proposal to send the draft' }),
    createdAt: z.string().describe('Time of creation'),
    updatedAt: z.string().describe('Time of the last change'),
  })
  .meta({ id: 'Draft', description: 'A mail that is not sent yet' });

export const draftPage = cursorPageOf(draftOutput);

/** A draft, with the mail as it would be sent now. */
export const shownDraftOutput = draftOutput
  .extend({
    ...pictureFields,
    attachments: z.array(picturedFile).describe('Attached files'),
    digest: z.string().meta({ description: 'Digest of the mail that would leave now' }),
  })
  .meta({ id: 'ShownDraft', description: 'A draft, with the mail that would leave' });

export const approveActionInput = z
  .strictObject({
    note: z
      .string()
      .max(2_000)
      .nullish()
      .describe('Note on the decision, for the key that proposed it'),
    delaySeconds,
    edits: z
      .strictObject(draftFields)
      .superRefine(fitAttachments)
      .superRefine(fewRecipients)
      .nullish()
      .meta({ description: 'Fields to send in place of the proposed ones' }),
  })
  .meta({ examples: [{ edits: { text: 'Thank you, Ada.' } }] });

const skippedReasons = ['bounce', 'complaint', 'unsubscribe', 'manual', 'malformed'] as const;

export const replyResultOutput = z
  .object({
    actionId: z.string().nullable().meta({
      description: 'Null for the operator at the command line, and if nothing was done',
    }),
    messageId: z.string().nullable().meta({ description: 'Null until the mail is sent' }),
    threadId: z.string().nullable().describe('Thread of the mail; null until it has one'),
    status: z.enum(['sent', 'proposed', 'skipped']).meta({
      description:
        'sent: handed to delivery; proposed: waits for approval by a person; skipped: no ' +
        'recipient was left',
    }),
    waitReason: z
      .enum(waitReasons)
      .nullable()
      .describe('Reason why delivery waits; null if it does not'),
    reviewExpectedAt: z
      .string()
      .nullable()
      .describe('Expected time of the decision on a proposal; null without one'),
    skippedRecipients: z
      .array(
        z.object({
          address: z.string().describe('Address as it was given'),
          reason: z.enum(skippedReasons).describe('Reason of the block; malformed: not an address'),
          unsubscribeGroupId: z
            .string()
            .nullable()
            .describe('Group of the unsubscribe; null for a block of all mail'),
        }),
      )
      .describe('Recipients that get nothing'),
    createdAt: z.string().describe('Time of the request'),
  })
  .meta({ id: 'ReplyResult', description: 'Outcome of a mail from a mailbox' });

export type ReplyInput = z.output<typeof replyInput>;
export type ForwardInput = z.output<typeof forwardInput>;
export type NewMessage = z.output<typeof newMessageInput>;
export type CreateDraft = z.output<typeof createDraftInput>;
export type UpdateDraft = z.output<typeof updateDraftInput>;
export type SendDraft = z.output<typeof sendDraftInput>;
export type ListDrafts = z.output<typeof listDraftsQuery>;
export type Draft = z.output<typeof draftOutput>;
export type ShownDraft = z.output<typeof shownDraftOutput>;
export type ApproveAction = z.output<typeof approveActionInput>;
export type ReplyResult = z.output<typeof replyResultOutput>;
export type SkippedRecipient = ReplyResult['skippedRecipients'][number];
export type Attachment = z.output<typeof attachmentList>[number];
