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
    deliveries: z.array(delivery).describe('Deliveries, one for each recipient'),
    id: z.string().describe('Id of the message'),
    organizationId: z.string().describe('Organization of the message'),
    conversationId: z.string().nullable().describe('Conversation of the message; null without one'),
    status: messageStatus.describe('Status over all recipients'),
    channel: z.literal('email').describe('Always `email`'),
    direction: z
      .enum(['outbound', 'inbound'])
      .describe('outbound: sent by the service; inbound: received'),
    subject: z.string().nullable().describe('Subject line; null without one'),
    fromEmail: z.string().describe('Address of the sender'),
    fromName: z.string().nullable().describe('Display name of the sender; null without one'),
    toEmails: z.array(z.string()).describe('Addresses in To'),
    ccEmails: z.array(z.string()).nullable().describe('Addresses in Cc; null without any'),
    bccEmails: z.array(z.string()).nullable().describe('Addresses in Bcc; null without any'),
    replyToEmails: z
      .array(z.string())
      .nullable()
      .describe('Addresses in Reply-To; null without any'),
    messageIdHeader: z.string().describe('Value of the header field Message-ID'),
    inReplyTo: z
      .string()
      .nullable()
      .describe('Value of the header field In-Reply-To; null without one'),
    references: z
      .array(z.string())
      .nullable()
      .describe('Message ids in the header field References; null without any'),
    threadPosition: z
      .int()
      .min(0)
      .nullable()
      .describe('Place in the thread, from 0; null outside a thread'),
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
    dkimVerdict: verdict.describe('Result of the check of DKIM signatures; null for sent mail'),
    spfVerdict: verdict.describe('Result of the check of SPF; null for sent mail'),
    dmarcVerdict: verdict.describe('Result of the check of DMARC; null for sent mail'),
    isAutoReply: z.boolean().describe('Whether a program wrote the mail as an answer'),
    autoReplyReason: z
      .enum(['out-of-office', 'auto-response', 'delivery-status', 'read-receipt'])
      .nullable()
      .describe('Kind of the automatic answer; null for other mail'),
    listUnsubscribeUrl: z.string().nullable().describe('URL in List-Unsubscribe; null without one'),
    listUnsubscribeEmail: z
      .string()
      .nullable()
      .describe('Address in List-Unsubscribe; null without one'),
    priority: z
      .enum(['high', 'normal', 'low'])
      .nullable()
      .describe('Importance by the header fields; null without one'),
    parsingErrors: z
      .array(
        z.object({
          code: z.string().describe('Kind of the fault'),
          message: z.string().describe('Sentence on the fault'),
          part: z.string().optional().meta({ description: 'Number of the MIME part, as in IMAP' }),
        }),
      )
      .nullable()
      .describe('Faults that the parser found; null without any'),
    html: z.string().nullable().describe('HTML of the mail; null without any'),
    text: z.string().nullable().describe('Plain text of the mail; null without any'),
    attachments: z
      .array(
        z.object({
          filename: z.string().nullable().describe('File name; null without one'),
          contentType: z.string().describe('Media type'),
          contentId: z
            .string()
            .nullable()
            .describe('Id by which the HTML shows the file; null without one'),
          size: z.number().describe('Size in bytes'),
        }),
      )
      .describe('Attached files'),
    arcVerdict: verdict.describe('Result of the check of the ARC chain; null for sent mail'),
    authenticationResults: z.string().nullable().meta({
      description: 'All results of the checks, as the value of that header field (RFC 8601)',
    }),
    storageUrls: z
      .object({
        raw: z.string().describe('URL of the whole mail (MIME)'),
        html: z.string().nullable().describe('URL of the HTML; null without any'),
        text: z.string().nullable().describe('URL of the plain text; null without any'),
        expiresAt: z.iso.datetime().describe('Time at which the URLs expire'),
      })
      .optional()
      .describe('Signed URLs of the parts, if the request asks for them'),
  })
  .meta({
    id: 'EmailProjection',
    description: 'A message as an email, with header fields, text and checks',
  });
export type EmailProjection = z.output<typeof emailProjection>;
