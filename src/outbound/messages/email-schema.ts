// Shapes of a message as an email: the query, and the answer with header fields, text, quotations
// and results of the checks.

import { z } from 'zod';
import { emailAddress } from '../../core/api/address-schema.ts';
import { wholeNumber } from '../../core/api/pagination.ts';
import { queryFlag } from '../../core/api/resource-schema.ts';
import { longestExpirySeconds } from './contents/storage-urls.ts';
import { delivery, messageStatus } from './schema.ts';

const verdict = z
  .enum(['pass', 'fail', 'softfail', 'neutral', 'none', 'policy', 'temperror', 'permerror'])
  .nullable();

export const emailQuery = z.strictObject({
  includeStorageUrls: queryFlag
    .optional()
    .meta({ description: 'Also give URLs that download the parts without a key' }),
  urlExpiresIn: wholeNumber(60, longestExpirySeconds)
    .optional()
    .meta({ description: 'Lifetime of the storage URLs in seconds, 60 to 604800 (default 3600)' }),
  recipient: emailAddress.optional().meta({
    description:
      "Recipient whose copy the `raw` URL gives, of a sent message's (default: the first)",
  }),
});
export type EmailQuery = z.output<typeof emailQuery>;

export const emailProjection = z
  .object({
    deliveries: z.array(delivery),
    id: z.string(),
    organizationId: z.string(),
    conversationId: z.string().nullable(),
    status: messageStatus,
    channel: z.literal('email'),
    direction: z.enum(['outbound', 'inbound']),
    subject: z.string().nullable(),
    fromEmail: z.string(),
    fromName: z.string().nullable(),
    toEmails: z.array(z.string()),
    ccEmails: z.array(z.string()).nullable(),
    bccEmails: z.array(z.string()).nullable(),
    replyToEmails: z.array(z.string()).nullable(),
    messageIdHeader: z.string(),
    inReplyTo: z.string().nullable(),
    references: z.array(z.string()).nullable(),
    threadPosition: z.int().min(0).nullable(),
    newContent: z
      .string()
      .nullable()
      .meta({
        description:
          "The sender's own words as plain text, without quotations and signatures. Of a mail " +
          'forwarded without a word, its text',
      }),
    quotedContent: z
      .string()
      .nullable()
      .meta({
        description:
          'All that newContent leaves out, as plain text: quotations with the lines that introduce ' +
          'them, forwarded mail, and signatures',
      }),
    hasQuotedContent: z.boolean().meta({ description: 'False for a signature alone' }),
    dkimVerdict: verdict,
    spfVerdict: verdict,
    dmarcVerdict: verdict,
    isAutoReply: z.boolean(),
    autoReplyReason: z
      .enum(['out-of-office', 'auto-response', 'delivery-status', 'read-receipt'])
      .nullable(),
    listUnsubscribeUrl: z.string().nullable(),
    listUnsubscribeEmail: z.string().nullable(),
    priority: z.enum(['high', 'normal', 'low']).nullable(),
    parsingErrors: z
      .array(
        z.object({
          code: z.string(),
          message: z.string(),
          part: z.string().optional().meta({ description: 'Number of the MIME part, as in IMAP' }),
        }),
      )
      .nullable(),
    html: z.string().nullable(),
    text: z.string().nullable(),
    attachments: z.array(
      z.object({
        filename: z.string().nullable(),
        contentType: z.string(),
        contentId: z.string().nullable(),
        size: z.number(),
      }),
    ),
    arcVerdict: verdict,
    authenticationResults: z.string().nullable().meta({
      description: 'All results of the checks, as the value of that header field (RFC 8601)',
    }),
    storageUrls: z
      .object({
        raw: z.string(),
        html: z.string().nullable(),
        text: z.string().nullable(),
        expiresAt: z.iso.datetime(),
      })
      .optional(),
  })
  .meta({ id: 'EmailProjection' });
export type EmailProjection = z.output<typeof emailProjection>;
