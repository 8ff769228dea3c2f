// Shapes of messages in answers and lists (specification 2.2, 4.1). The payload of a send is in
// send-schema.ts, a message as an email in email-schema.ts.

import { z } from 'zod';
import { templateWarning } from '../../content/rendering/schema.ts';
import { idOf } from '../../core/api/resource-schema.ts';
import { messageStatuses, waitReasons } from '../deliveries/status.ts';

export const messageId = idOf('message', 'is not a message id');
export const messagePath = z.strictObject({ id: messageId.describe('Id of the message') });
export const metadataValue = z.union([z.string().max(2000), z.number(), z.boolean(), z.null()]);
export const messageStatus = z.enum(messageStatuses);

const nullableTime = z.iso.datetime().nullable();
const party = z.object({
  email: z.string().describe('Email address'),
  name: z.string().nullable().describe('Display name; null without one'),
  contactId: z
    .string()
    .nullable()
    .describe('Contact with this address; null for an unknown address'),
});
const recipientKind = z.enum(['to', 'cc', 'bcc']);

const waitReason = z.enum(waitReasons);

export const attempt = z
  .object({
    number: z.number().describe('Number of the attempt, from 1'),
    at: z.iso.datetime().describe('Time of the attempt'),
    durationMs: z.number().describe('Duration in milliseconds'),
    host: z.string().nullable().describe('Host name of the server; null if none was reached'),
    address: z.string().nullable().describe('IP address of the server; null if none was reached'),
    tls: z.string().nullable().describe('TLS version and cipher; null without TLS'),
    outcome: z
      .enum(['sent', 'deferred', 'bounced', 'failed'])
      .describe(
        'sent: the server accepted the mail; deferred: tried again later; bounced, failed: the end',
      ),
    code: z.number().nullable().describe('SMTP reply code, such as 250; null without a reply'),
    enhancedCode: z
      .string()
      .nullable()
      .describe('Enhanced status code (RFC 3463), such as 5.1.1; null without one'),
    reply: z.string().describe('Reply of the server, or our own words on the failure'),
    verb: z.string().describe('SMTP command that the reply answers'),
    transcript: z.string().nullable().describe('Lines of the SMTP dialogue; null if not kept'),
    capturedBy: z.string().optional().meta({
      description: 'Configuration key that kept the mail on this machine: nothing was sent',
    }),
    releasedAs: z
      .string()
      .optional()
      .meta({ description: 'Message that later sent this captured copy to its recipient' }),
    signedWith: z
      .object({
        at: z.iso.datetime().describe('Time of the signatures'),
        selectors: z.array(z.string()).describe('DKIM selectors'),
      })
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
      .array(
        z
          .object({
            subject: z.string().describe('Subject of the certificate'),
            sha256: z.string().describe('SHA-256 of the certificate, in hex'),
          })
          .readonly(),
      )
      .readonly()
      .optional()
      .meta({ description: 'Certificates of the server that accepted it, its own first' }),
    policy: z
      .enum(['dane', 'mta-sts'])
      .optional()
      .meta({ description: 'Rule that proved the name of the server that accepted it' }),
  })
  .meta({ id: 'DeliveryAttempt', description: 'An attempt to hand a mail to a server' });
export type Attempt = z.output<typeof attempt>;

export const delivery = z
  .object({
    id: z.string().describe('Id of the delivery'),
    messageId: z.string().describe('Message that is delivered'),
    recipientId: z.string().nullable().describe('Recipient of the message'),
    channel: z.literal('email').describe('Always `email`'),
    status: messageStatus.describe('Status of this delivery'),
    attemptCount: z.number().describe('Number of attempts so far'),
    maxAttempts: z.number().describe('Most attempts before the service gives up'),
    queuedAt: nullableTime.describe('Time at which it was queued; null before'),
    claimedAt: nullableTime.describe(
      'Time at which a worker claimed it for an attempt; null before',
    ),
    lastAttemptAt: nullableTime.describe('Time of the latest attempt; null before the first'),
    nextRetryAt: nullableTime.describe('Time of the next attempt; null if none is planned'),
    sentAt: nullableTime.describe('Time at which a server accepted the mail; null before'),
    deliveredAt: nullableTime.describe('Time at which the mail counted as delivered; null before'),
    readAt: nullableTime.describe('Time of the first recorded open; null before'),
    failedAt: nullableTime.describe('Time at which it failed for good; null if it did not'),
    terminalAt: nullableTime.describe('Time at which it reached a final status; null before'),
    errorCode: z.string().nullable().describe('Code of the latest error; null without one'),
    errorMessage: z.string().nullable().describe('Words of the latest error; null without one'),
    errorDetails: z.unknown().nullable().describe('Details of the latest error; null without any'),
    cost: z.string().describe('Cost of the delivery with six decimals; `0` for a self-hosted plan'),
    currency: z.string().describe('Currency of the cost, ISO 4217'),
    idempotencyKey: z.string().nullable().describe('Idempotency key of the send; null without one'),
    metadata: z
      .object({
        captured: z
          .object({ by: z.string().describe('Configuration key that captured it') })
          .describe('Present if the mail was captured'),
      })
      .nullable()
      .meta({
        description:
          'Configuration key that kept the mail on this machine although its `status` is ' +
          '`delivered` (`delivery.mode`, `delivery.allow`, `delivery.routes.0`)',
      }),
    createdAt: z.iso.datetime().describe('Time of creation'),
    updatedAt: z.iso.datetime().describe('Time of the last change'),
    scheduling: z
      .object({
        dueAt: nullableTime.describe('Time of the next attempt; null if none is planned'),
        expiresAt: nullableTime.describe('Time at which the service gives up; null without one'),
        waitReason: waitReason.nullable().describe('Reason to wait; null if it does not wait'),
        hold: z
          .object({
            id: z.string().describe('Id of the hold'),
            reason: z.string().nullable().describe('Note of the operator; null without one'),
            release: z.string().describe('Command that lifts the hold'),
          })
          .nullable()
          .describe('Hold of the operator, until its release; null without one'),
      })
      .nullable()
      .describe('Schedule of a waiting delivery; null if it does not wait'),
    attempts: z.array(attempt).meta({ description: 'The latest attempts, oldest first' }),
  })
  .meta({ id: 'Delivery', description: 'The way of a message to one recipient' });
export type Delivery = z.output<typeof delivery>;

/** Way by which a message was handed in, with the credentials used. */
const messageOrigin = z
  .object({
    via: z
      .enum(['api', 'command', 'smtp', 'sendmail', 'service'])
      .meta({ description: '`service`: mail that the service wrote itself' }),
    keyId: z.string().nullable().meta({ description: 'Key or member; null for the operator' }),
    keyName: z.string().nullable().meta({ description: 'Name of the key or member then' }),
    user: z.string().nullable().meta({
      description: 'User name of the login over SMTP; for sendmail, the user of the system',
    }),
  })
  .meta({ id: 'MessageOrigin', description: 'Origin of a message' });
export type MessageOrigin = z.output<typeof messageOrigin>;

/**
 * The origin as stored in the row. `via` must come first: counts by origin compare the beginning of
 * the text.
 */
export type StoredOrigin = MessageOrigin & { resendOf?: string; templateVersion?: number };

export const message = z
  .object({
    id: z.string().describe('Id of the message'),
    organizationId: z.string().describe('Organization of the message'),
    channel: z.literal('email').describe('Always `email`'),
    direction: z
      .enum(['outbound', 'inbound'])
      .describe('outbound: sent by the service; inbound: received'),
    status: messageStatus.describe('Status over all recipients'),
    conversationId: z.string().nullable().describe('Conversation of the message; null without one'),
    campaignRunId: z
      .string()
      .nullable()
      .describe('Campaign run that made the message; null without one'),
    unsubscribeGroupId: z
      .string()
      .nullable()
      .meta({ description: 'Kind of mail, which its recipients can leave' }),
    subject: z.string().nullable().describe('Subject line; null without one'),
    from: z
      .object({
        email: z.string().describe('Address of the sender'),
        name: z.string().nullable().describe('Display name of the sender; null without one'),
      })
      .describe('Sender'),
    replyTo: z
      .array(z.string())
      .nullable()
      .describe('Addresses that replies go to; null: the sender'),
    to: z.array(party).describe('Recipients in To'),
    cc: z.array(party).describe('Recipients in Cc'),
    bcc: z.array(party).describe('Recipients in Bcc, hidden from all recipients'),
    recipients: z
      .array(
        party.extend({
          id: z.string().describe('Id of the recipient'),
          kind: recipientKind.describe('Header field that names the recipient; bcc is in none'),
          status: messageStatus.describe('Status for this recipient'),
        }),
      )
      .describe('Every recipient with the status of the delivery'),
    deliveries: z.array(delivery).describe('Deliveries, one for each recipient'),
    templateId: z.string().nullable().describe('Template that was filled; null for inline content'),
    templateVersion: z
      .int()
      .nullable()
      .meta({ description: 'Number of the version of the template that was sent' }),
    tags: z.array(z.string()).describe('Tags of the send'),
    metadata: z
      .record(z.string(), metadataValue)
      .describe('Values that the sender of the request attached'),
    tracking: z
      .object({
        opens: z.boolean().describe('Whether opens are recorded'),
        clicks: z.boolean().describe('Whether clicks are recorded'),
      })
      .describe('Tracking of this message'),
    scheduledFor: nullableTime.describe('Planned time of a scheduled message; null without one'),
    resendOf: z
      .string()
      .nullable()
      .meta({ description: 'Earlier message that this one repeats or releases' }),
    origin: messageOrigin
      .nullable()
      .meta({ description: 'Origin of the message; null for received mail, and for old messages' }),
    createdAt: z.iso.datetime().describe('Time of creation'),
    updatedAt: z.iso.datetime().describe('Time of the last change'),
  })
  .meta({ id: 'Message', description: 'A message, sent or received' });
export type Message = z.output<typeof message>;

const eventOfMessage = z
  .looseObject({
    recipient: z.string().nullable().meta({ description: 'Null for events of all recipients' }),
    errorCode: z.string().nullable().describe('Code of the error; null without one'),
    reply: z.string().nullable().meta({ description: 'Reply of the server' }),
    url: z.string().nullable().meta({ description: 'URL of a followed link' }),
  })
  .meta({ description: 'An event of a message, with its recipient and further details' });

/** Data of a message event: the message as it was then, or the id of a deleted message. */
export const messageEventData = z
  .union([
    message.extend({ event: eventOfMessage }).meta({
      id: 'MessageEventData',
      description: 'The message as it is now, with its status at the event',
    }),
    z
      .object({
        id: z.string().describe('Id of the deleted message'),
        deleted: z.literal(true).describe('Always true'),
      })
      .meta({
        id: 'DeletedMessage',
        description: 'The message was deleted since',
      }),
  ])
  .meta({ id: 'MessageEventRecord', description: 'Data of an event of a message' });

const entryIndex = z.int().min(0).meta({ description: 'Its place in the request, from 0' });

export const batchResult = z
  .union([
    z.object({ index: entryIndex, message: message.describe('Message that was accepted') }),
    z.object({
      index: entryIndex,
      error: z.record(z.string(), z.unknown()).meta({
        description: 'The error object of this send, as if it had been sent alone',
      }),
    }),
  ])
  .meta({ id: 'BatchResult', description: 'Result of one send of a batch' });
export type BatchResult = z.output<typeof batchResult>;

/** Answer of a send with `dryRun: true`. */
export const dryRunResult = z
  .object({
    valid: z.boolean().meta({ description: 'Whether the send would be accepted now' }),
    problems: z
      .array(
        z.object({
          _tag: z.string().meta({ description: 'Of the error that would refuse the send' }),
          field: z
            .string()
            .nullable()
            .describe('Dotted path of the field at fault; null for the whole request'),
          message: z.string().describe('Sentence on the problem and the remedy'),
        }),
      )
      .meta({ description: 'Each reason that would refuse the send, in the order of the checks' }),
    subject: z
      .string()
      .nullable()
      .describe('Subject line as it would be sent; null if it cannot be made'),
    preheader: z.string().nullable().describe('Preview line of the template; null without one'),
    html: z.string().nullable().describe('HTML as it would be sent; null without any'),
    text: z.string().nullable().describe('Plain text as it would be sent; null without any'),
    sizeBytes: z
      .int()
      .nullable()
      .meta({ description: 'Size of the mail before its signatures; null without a sender' }),
    warnings: z.array(templateWarning).describe('Advice on the content'),
    suppressed: z
      .array(
        z.object({
          address: z.string().describe('Blocked address'),
          reason: z.string().describe('Reason of the block'),
        }),
      )
      .meta({ description: 'Recipients that would get nothing, as they are blocked' }),
  })
  .meta({ id: 'DryRunResult', description: 'A send as it would be accepted or refused now' });
export type DryRunResult = z.output<typeof dryRunResult>;

export const messageEvent = z
  .object({
    id: z.string().describe('Id of the event'),
    messageId: z.string().describe('Message of the event'),
    eventType: z.string().describe('Kind of the event, such as `accepted` or `delivered`'),
    status: z.string().describe('Status of the message at the event'),
    timestamp: z.iso.datetime().describe('Time of the event'),
    metadata: z
      .record(z.string(), z.unknown())
      .describe('Details of the event, such as the recipient and the reply'),
  })
  .meta({ id: 'MessageEvent', description: 'An event in the timeline of a message' });
export type TimelineEvent = z.output<typeof messageEvent>;
