// Shapes of messages in answers and lists (specification 2.2, 4.1). The payload of a send is in
// send-schema.ts, a message as an email in email-schema.ts.

import { z } from 'zod';
import { templateWarning } from '../../content/rendering/schema.ts';
import { emailAddress } from '../../core/api/address-schema.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idOf, instant as isoInstant, timeRange } from '../../core/api/resource-schema.ts';
import { contactNoun } from '../../people/contacts/schema.ts';
import { conversationNoun } from '../../people/conversations/schema.ts';
import { messageStatuses, waitReasons } from '../deliveries/status.ts';
import { subjectCharacters } from './lists/search-limits.ts';

export const messageId = idOf('message', 'is not a message id');
export const messagePath = z.strictObject({ id: messageId });
export const metadataValue = z.union([z.string().max(2000), z.number(), z.boolean(), z.null()]);
export const messageStatus = z.enum(messageStatuses);

const nullableTime = z.iso.datetime().nullable();
const party = z.object({
  email: z.string(),
  name: z.string().nullable(),
  contactId: z.string().nullable(),
});
const recipientKind = z.enum(['to', 'cc', 'bcc']);

const waitReason = z.enum(waitReasons);

export const attempt = z
  .object({
    number: z.number(),
    at: z.iso.datetime(),
    durationMs: z.number(),
    host: z.string().nullable(),
    address: z.string().nullable(),
    tls: z.string().nullable(),
    outcome: z.enum(['sent', 'deferred', 'bounced', 'failed']),
    code: z.number().nullable(),
    enhancedCode: z.string().nullable(),
    reply: z.string(),
    verb: z.string(),
    transcript: z.string().nullable(),
    capturedBy: z.string().optional().meta({
      description: 'Configuration key that kept the mail on this machine: nothing was sent',
    }),
    releasedAs: z
      .string()
      .optional()
      .meta({ description: 'Message that later sent this captured copy to its recipient' }),
    signedWith: z
      .object({ at: z.iso.datetime(), selectors: z.array(z.string()) })
      .optional()
      .meta({ description: 'Time and DKIM selectors of the signatures of this attempt' }),
    linkBase: z
      .string()
      .optional()
      .meta({ description: 'Beginning of the tracking and unsubscribe links of this attempt' }),
    digest: z
      .string()
      .optional()
      .meta({ description: 'SHA-256 of the message that the server accepted, in hex' }),
    sevenBit: z.boolean().optional().meta({
      description: 'True if 8-bit parts were encoded, since the server offers no 8BITMIME',
    }),
    returnPath: z.string().optional().meta({
      description: 'Return path of the message that the server accepted, its token as `*`',
    }),
    certificates: z
      .array(z.object({ subject: z.string(), sha256: z.string() }).readonly())
      .readonly()
      .optional()
      .meta({ description: 'Certificates of the server that accepted it, its own first' }),
    policy: z
      .enum(['dane', 'mta-sts'])
      .optional()
      .meta({ description: 'Rule that proved the name of the server that accepted it' }),
  })
  .meta({ id: 'DeliveryAttempt' });
export type Attempt = z.output<typeof attempt>;

export const delivery = z
  .object({
    id: z.string(),
    messageId: z.string(),
    recipientId: z.string().nullable(),
    channel: z.literal('email'),
    status: messageStatus,
    attemptCount: z.number(),
    maxAttempts: z.number(),
    queuedAt: nullableTime,
    claimedAt: nullableTime,
    lastAttemptAt: nullableTime,
    nextRetryAt: nullableTime,
    sentAt: nullableTime,
    deliveredAt: nullableTime,
    readAt: nullableTime,
    failedAt: nullableTime,
    terminalAt: nullableTime,
    errorCode: z.string().nullable(),
    errorMessage: z.string().nullable(),
    errorDetails: z.unknown().nullable(),
    cost: z.string(),
    currency: z.string(),
    idempotencyKey: z.string().nullable(),
    metadata: z
      .object({ captured: z.object({ by: z.string() }) })
      .nullable()
      .meta({
        description:
          'Configuration key that kept the mail on this machine although its `status` is ' +
          '`delivered` (`delivery.mode`, `delivery.allow`, `delivery.routes.0`)',
      }),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    scheduling: z
      .object({
        dueAt: nullableTime,
        expiresAt: nullableTime,
        waitReason: waitReason.nullable(),
      })
      .nullable(),
    attempts: z.array(attempt).meta({ description: 'The latest attempts, oldest first' }),
  })
  .meta({ id: 'Delivery' });
export type Delivery = z.output<typeof delivery>;

/** Way by which a message was handed in, with the credentials used. */
const messageOrigin = z
  .object({
    via: z
      .enum(['api', 'command', 'smtp', 'sendmail', 'service'])
      .meta({ description: '`service`: mail that the service wrote itself' }),
    keyId: z.string().nullable().meta({ description: 'Null for the operator' }),
    keyName: z.string().nullable().meta({ description: 'Name of the key at that time' }),
    user: z.string().nullable().meta({
      description: 'User name of the login over SMTP; for sendmail, the user of the system',
    }),
  })
  .meta({ id: 'MessageOrigin' });
export type MessageOrigin = z.output<typeof messageOrigin>;

/**
 * The origin as the row keeps it. `via` comes first: counts by origin compare the beginning of the
 * text.
 */
export type StoredOrigin = MessageOrigin & { resendOf?: string; templateVersion?: number };

export const message = z
  .object({
    id: z.string(),
    organizationId: z.string(),
    channel: z.literal('email'),
    direction: z.enum(['outbound', 'inbound']),
    status: messageStatus,
    conversationId: z.string().nullable(),
    campaignRunId: z.string().nullable(),
    unsubscribeGroupId: z
      .string()
      .nullable()
      .meta({ description: 'Kind of mail, which its recipients can leave' }),
    subject: z.string().nullable(),
    from: z.object({ email: z.string(), name: z.string().nullable() }),
    replyTo: z.array(z.string()).nullable(),
    to: z.array(party),
    cc: z.array(party),
    bcc: z.array(party),
    recipients: z.array(
      party.extend({ id: z.string(), kind: recipientKind, status: messageStatus }),
    ),
    deliveries: z.array(delivery),
    templateId: z.string().nullable(),
    templateVersion: z
      .int()
      .nullable()
      .meta({ description: 'Number of the version of the template that was sent' }),
    tags: z.array(z.string()),
    metadata: z.record(z.string(), metadataValue),
    tracking: z.object({ opens: z.boolean(), clicks: z.boolean() }),
    scheduledFor: nullableTime,
    resendOf: z
      .string()
      .nullable()
      .meta({ description: 'Earlier message that this one repeats or releases' }),
    origin: messageOrigin
      .nullable()
      .meta({ description: 'Origin of the message; null for received mail, and for old messages' }),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Message' });
export type Message = z.output<typeof message>;

const eventOfMessage = z
  .looseObject({
    recipient: z.string().nullable().meta({ description: 'Null for events of all recipients' }),
    errorCode: z.string().nullable(),
    reply: z.string().nullable().meta({ description: 'Reply of the server' }),
    url: z.string().nullable().meta({ description: 'URL of a followed link' }),
  })
  .meta({ description: 'An event of a message, with its recipient and further details' });

/** Details of a message event. */
export const messageEventData = z
  .union([
    message.extend({ event: eventOfMessage }).meta({
      id: 'MessageEventData',
      description: 'The message as it is now, with its status at the event',
    }),
    z.object({ id: z.string(), deleted: z.literal(true) }).meta({
      id: 'DeletedMessage',
      description: 'The message was deleted since',
    }),
  ])
  .meta({ id: 'MessageEventRecord' });

const entryIndex = z.int().min(0).meta({ description: 'Its place in the request, from 0' });

export const batchResult = z
  .union([
    z.object({ index: entryIndex, message }),
    z.object({
      index: entryIndex,
      error: z.record(z.string(), z.unknown()).meta({
        description: 'The error object of this send, as if it had been sent alone',
      }),
    }),
  ])
  .meta({ id: 'BatchResult' });
export type BatchResult = z.output<typeof batchResult>;

/** Answer of a send with `dryRun: true`. */
export const dryRunResult = z
  .object({
    valid: z.boolean().meta({ description: 'Whether the send would be accepted now' }),
    problems: z
      .array(
        z.object({
          _tag: z.string().meta({ description: 'Of the error that would refuse the send' }),
          field: z.string().nullable(),
          message: z.string(),
        }),
      )
      .meta({ description: 'Each reason that would refuse the send, in the order of the checks' }),
    subject: z.string().nullable(),
    preheader: z.string().nullable(),
    html: z.string().nullable(),
    text: z.string().nullable(),
    sizeBytes: z
      .int()
      .nullable()
      .meta({ description: 'Size of the mail before its signatures; null without a sender' }),
    warnings: z.array(templateWarning),
    suppressed: z
      .array(z.object({ address: z.string(), reason: z.string() }))
      .meta({ description: 'Recipients that would get nothing, as they are blocked' }),
  })
  .meta({ id: 'DryRunResult' });
export type DryRunResult = z.output<typeof dryRunResult>;

export const messageEvent = z
  .object({
    id: z.string(),
    messageId: z.string(),
    eventType: z.string(),
    status: z.string(),
    timestamp: z.iso.datetime(),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'MessageEvent' });
export type TimelineEvent = z.output<typeof messageEvent>;

const dayMs = 86_400_000;

/**
 * Parses a day or an instant of a query (ISO 8601). A bare date means the first or last instant of
 * the day.
 */
function instant(edge: 'first' | 'last') {
  return z
    .union([isoInstant, z.iso.date()], 'must be an ISO 8601 date or time')
    .transform((text) => {
      const isDate = !text.includes('T');
      return Date.parse(text) + (isDate && edge === 'last' ? dayMs - 1 : 0);
    });
}

export const listMessagesQuery = z
  .strictObject({
    ...pageQuery,
    channel: z.literal('email').optional(),
    direction: z
      .enum(['outbound', 'inbound'])
      .optional()
      .meta({ description: 'Only this direction' }),
    status: messageStatus.optional().meta({ description: 'Only this status' }),
    conversationId: idOf(conversationNoun, 'is not a conversation id')
      .optional()
      .meta({ description: 'Only messages of this conversation' }),
    contactId: idOf(contactNoun, 'is not a contact id')
      .optional()
      .meta({ description: 'Only messages of this contact' }),
    startDate: instant('first')
      .optional()
      .meta({ description: 'Only messages created at or after this time, ISO 8601' }),
    endDate: instant('last').optional().meta({
      description: 'Only messages created at or before this time; a bare date includes that day',
    }),
    ...timeRange('messages created'),
    recipient: emailAddress
      .optional()
      .meta({ description: 'Only messages with this address in `to`, `cc` or `bcc`' }),
    sender: emailAddress.optional().meta({ description: 'Only messages from this address' }),
    subject: z
      .string()
      .min(1)
      .max(subjectCharacters)
      .optional()
      .meta({ description: 'Only messages with a subject that begins so, in any case of letters' }),
    tag: z.string().min(1).max(100).optional().meta({ description: 'Only messages with this tag' }),
  })
  .meta({ id: 'ListMessagesQuery' });
export type ListMessagesQuery = z.output<typeof listMessagesQuery>;
