// Shapes of messages, in and out (specification 2.2, 4.1, 4.2). Text that lands in a
// header refuses CR, LF and NUL here already: a 422 that names the field, never a silent clean-up.
import { z } from 'zod';
import { emailAddress, headerText, notHeaderSafe } from '../api/address-schema.ts';
import { boundedList, boundedMap } from '../api/bounded-schema.ts';
import { pageQuery, wholeNumber } from '../api/pagination.ts';
import { messageStatuses, waitReasons } from '../deliveries/status.ts';
import { isRefusedHeader } from '../mime/header-encoding.ts';
import { isHeaderSafe } from '../net/address.ts';
import { idPattern } from '../runtime/ids.ts';
import { subjectCharacters } from './term-queries.ts';

/** Of one message, over to, cc and bcc. */
export const mostRecipients = 50;
/** Of all that is attached to one message, once encoded. */
export const mostAttachmentsBytes = 40 * 1024 * 1024;
const maxAttachments = 100;
const maxHeaders = 50;
const maxMetadata = 50;
const maxTemplateData = 1_000;
const maxBodyCharacters = 20 * 1024 * 1024;
const maxHeaderValue = 998;

export const messageId = z.string().regex(idPattern('message'), 'is not a message id');
const messageStatus = z.enum(messageStatuses);

const recipientEntry = z
  .strictObject({
    email: emailAddress.optional(),
    contactId: z.string().regex(idPattern('contact'), 'is not a contact id').optional(),
    name: headerText(200).optional().meta({ description: 'Display name' }),
  })
  .refine((entry) => (entry.email === undefined) !== (entry.contactId === undefined), {
    message: 'needs exactly one of email and contactId',
  });

/** RFC 4648 section 4, line breaks allowed. In steps: one pattern for all of it would backtrack. */
function isBase64(text: string): boolean {
  const data = /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, '') : text;
  const end = data.search(/[^A-Za-z0-9+/]/);
  return data.length % 4 === 0 && (end === -1 || /^={1,2}$/.test(data.slice(end)));
}

const attachment = z.strictObject({
  filename: headerText(255).min(1),
  content: z
    .string()
    .refine(isBase64, 'must be base64')
    .meta({ description: 'The file, base64 (RFC 4648 section 4)' }),
  contentType: z
    .string()
    .max(255)
    .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:; ?[\w-]+=[\w.+-]+)*$/, 'is not a media type')
    .refine((type) => !/^(?:multipart|message)\//i.test(type), 'must be a single part')
    .optional()
    .meta({ description: 'Media type; without it what the name of the file says' }),
  contentId: z
    .string()
    .max(255)
    .regex(/^[\w.@+-]+$/, 'may hold letters, digits and . _ @ + - only')
    .optional(),
});

/** Of a mail; what they take in all is `boundedAttachments`. */
export const attachmentList = boundedList(z.array(attachment), maxAttachments);

const customHeaders = boundedMap(
  z.record(z.string(), z.string().max(maxHeaderValue).refine(isHeaderSafe, notHeaderSafe)),
  maxHeaders,
  `at most ${maxHeaders} headers`,
).superRefine((headers, context) => {
  const names = Object.keys(headers);
  const seen = new Set<string>();
  for (const name of names) {
    const twice = seen.has(name.toLowerCase()) ? 'is given twice' : null;
    const message = isRefusedHeader(name) ?? twice;
    if (message) context.addIssue({ code: 'custom', path: [name], message });
    seen.add(name.toLowerCase());
  }
});

/** No mail text holds NUL (RFC 5322 4.1), and PostgreSQL cannot store it. */
export const bodyText = z
  .string()
  .max(maxBodyCharacters)
  .refine((text) => !text.includes('\0'), 'must not contain NUL characters');

/** Things of areas that this version does not have yet are refused by name, never ignored. */
const notYet = (what: string) => `${what} is not available in this version`;

const emailContent = z
  .strictObject({
    subject: headerText(998).optional(),
    html: bodyText.optional(),
    text: bodyText.optional().meta({
      description:
        'Without it, HTML gets a text made from it; an empty one is left out of the mail',
    }),
    replyTo: boundedList(z.array(emailAddress).min(1), 10).optional(),
    templateId: z.string().regex(idPattern('template'), 'is not a template id').optional(),
    templateSlug: z.string().min(1).max(100).optional(),
    templateData: boundedMap(z.record(z.string(), z.unknown()), maxTemplateData).optional(),
    attachments: attachmentList.optional(),
    headers: customHeaders.optional(),
    tracking: z
      .strictObject({ opens: z.boolean().optional(), clicks: z.boolean().optional() })
      .optional()
      .meta({
        description:
          'Whether opens and clicks are tracked; where it says nothing, the organization does. Mail ' +
          'without HTML is not tracked. A tracked message travels alone to each recipient',
      }),
    unsubscribeGroupId: z.string().max(40).optional(),
    footer: z
      .strictObject({ enabled: z.boolean() })
      .refine((footer) => !footer.enabled, notYet('The brand footer'))
      .optional(),
    inReplyToMessageId: messageId.optional(),
    priority: z.enum(['high', 'normal', 'low']).optional(),
  })
  .superRefine(oneContentSource)
  .superRefine(oneWayToLeave)
  .superRefine(boundedAttachments);

type EmailFields = {
  [K in 'subject' | 'html' | 'text' | 'templateId' | 'templateSlug']?: string | undefined;
} & { templateData?: unknown };

/** Rules 1 to 3 of specification 4.2. */
function oneContentSource(email: EmailFields, context: z.RefinementCtx): void {
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message });
  if (email.templateId !== undefined || email.templateSlug !== undefined) {
    if (email.templateId !== undefined && email.templateSlug !== undefined) {
      refuse('templateSlug', 'must not be given together with templateId');
    }
    for (const field of ['subject', 'html', 'text'] as const) {
      if (email[field] !== undefined) refuse(field, 'must be omitted with a template');
    }
    return;
  }
  if (email.subject === undefined) refuse('subject', 'is required for inline content');
  if (email.html === undefined && email.text === undefined) {
    refuse('html', 'inline content needs html or text or both');
  }
  if (email.templateData !== undefined) refuse('templateData', 'needs a template');
}

/** RFC 8058: the service writes these fields of a message that names a group. */
function oneWayToLeave(
  {
    unsubscribeGroupId,
    headers = {},
  }: { unsubscribeGroupId?: string | undefined; headers?: object | undefined },
  context: z.RefinementCtx,
): void {
  if (unsubscribeGroupId === undefined) return;
  const own = Object.keys(headers).find((name) => /^list-unsubscribe(?:-post)?$/i.test(name));
  if (own === undefined) return;
  const message = `${own} is set by the service where there is an unsubscribeGroupId`;
  context.addIssue({ code: 'custom', path: ['headers'], message });
}

/** All of them fit into one mail. */
export function boundedAttachments(
  email: { attachments?: { content: string }[] | undefined },
  context: z.RefinementCtx,
): void {
  const bytes = (email.attachments ?? []).reduce((sum, { content }) => sum + content.length, 0);
  if (bytes > mostAttachmentsBytes) {
    context.addIssue({
      code: 'custom',
      path: ['attachments'],
      message: `may take ${mostAttachmentsBytes} bytes in all once encoded; these take ${bytes}`,
    });
  }
}

const metadataValue = z.union([z.string().max(2000), z.number(), z.boolean(), z.null()]);

const tooManyRecipients = `at most ${mostRecipients} recipients over to, cc and bcc`;
const recipients = <List extends z.ZodArray>(list: List) =>
  boundedList(list, mostRecipients, tooManyRecipients);

/** Reaches a mailbox of this service, from whichever sender is the default. */
const sendExample = {
  channel: 'email',
  to: [{ email: 'inbox@sandbox.test' }],
  email: { subject: 'Hello', text: 'It works.' },
};

/** The send payload (specification 4.2). */
export const sendPayload = z
  .strictObject({
    channel: z.literal('email'),
    to: recipients(z.array(recipientEntry).min(1, 'needs at least one recipient')),
    cc: recipients(z.array(recipientEntry)).optional(),
    bcc: recipients(z.array(recipientEntry)).optional(),
    from: z
      .strictObject({ email: emailAddress, name: headerText(200).optional() })
      .optional()
      .meta({ description: 'A verified sender, or any address of a verified domain' }),
    email: emailContent,
    conversationId: z
      .string()
      .regex(idPattern('conversation'), 'is not a conversation id')
      .optional(),
    tags: boundedList(z.array(z.string().min(1).max(100)), 10).optional(),
    metadata: boundedMap(
      z.record(z.string().min(1).max(100), metadataValue),
      maxMetadata,
    ).optional(),
  })
  .superRefine(({ to, cc = [], bcc = [] }, context) => {
    if (to.length + cc.length + bcc.length > mostRecipients) {
      context.addIssue({
        code: 'custom',
        path: ['to'],
        message: tooManyRecipients,
      });
    }
  })
  .meta({ id: 'SendPayload', examples: [sendExample] });

export type SendPayload = z.output<typeof sendPayload>;

/** The body of a send for later (specification 4.8: its idempotency key is in it). */
export const scheduledPayload = sendPayload
  .safeExtend({
    scheduledFor: z.iso
      .datetime({
        offset: true,
        error: 'must be an ISO 8601 time with its offset, such as 2026-01-05T12:00:00Z',
      })
      .transform((text) => Date.parse(text))
      .meta({ description: 'When it is sent: not past, and within a year' }),
    idempotencyKey: headerText(255)
      .min(1)
      .nullish()
      .meta({ description: 'Repeating a request with the same key returns the original message' }),
  })
  .meta({
    id: 'ScheduledPayload',
    examples: [{ ...sendExample, scheduledFor: '2026-01-05T12:00:00.000Z' }],
  });

export type ScheduledPayload = z.output<typeof scheduledPayload>;

const nullableTime = z.iso.datetime().nullable();
const party = z.object({
  email: z.string(),
  name: z.string().nullable(),
  contactId: z.string().nullable(),
});
const recipientKind = z.enum(['to', 'cc', 'bcc']);

const waitReason = z.enum(waitReasons);

const attempt = z
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
      description: 'The configuration key that kept the mail on this machine: nothing was sent',
    }),
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
          'Where the mail was kept on this machine although its status is `delivered`: by which key ' +
          'of the configuration (`delivery.mode`, `delivery.allow`, `delivery.routes.0`)',
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

/** By which way a message was handed in, and as whom. */
const messageOrigin = z
  .object({
    via: z.enum(['api', 'command', 'smtp', 'sendmail']),
    keyId: z.string().nullable().meta({ description: 'Null for the operator' }),
    keyName: z.string().nullable().meta({ description: 'As the key was called then' }),
    user: z.string().nullable().meta({
      description:
        'The name that was logged in with over SMTP; of sendmail, the user of the system',
    }),
  })
  .meta({ id: 'MessageOrigin' });
export type MessageOrigin = z.output<typeof messageOrigin>;

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
      .meta({ description: 'The kind of mail that it is, which its recipients can leave' }),
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
    tags: z.array(z.string()),
    metadata: z.record(z.string(), metadataValue),
    tracking: z.object({ opens: z.boolean(), clicks: z.boolean() }),
    scheduledFor: nullableTime,
    origin: messageOrigin
      .nullable()
      .meta({ description: 'How it was handed in; null for what came in, and of old messages' }),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Message' });
export type Message = z.output<typeof message>;

const eventOfMessage = z
  .looseObject({
    recipient: z.string().nullable().meta({ description: 'Null for what concerns all of them' }),
    errorCode: z.string().nullable(),
    reply: z.string().nullable().meta({ description: 'What the server said' }),
    url: z.string().nullable().meta({ description: 'Of a link that was followed' }),
  })
  .meta({ description: 'What happened, and to whom; with what else is to be known' });

/** What an event on a message tells. */
export const messageEventData = z
  .union([
    message.extend({ event: eventOfMessage }).meta({
      id: 'MessageEventData',
      description: 'The message as it is now, its status as of the event',
    }),
    z.object({ id: z.string(), deleted: z.literal(true) }).meta({
      id: 'DeletedMessage',
      description: 'The message was deleted since',
    }),
  ])
  .meta({ id: 'MessageEventTold' });

/** What is given in place of a payload that may be wrong: documented as one, checked by itself. */
const batchEntry = z.unknown().meta({ $ref: '#/components/schemas/SendPayload' });

/** The body of a batch: one wrong entry is that entry's error, not the request's. */
export const batchPayload = z
  .array(batchEntry)
  .min(1, 'needs at least one entry')
  .max(100, 'takes at most 100 entries')
  .meta({
    examples: [
      [
        sendExample,
        { ...sendExample, email: { subject: 'Hello again', html: '<p>It works.</p>' } },
      ],
    ],
  });

const entryIndex = z.int().min(0).meta({ description: 'Its place in the request, from 0' });

export const batchResult = z
  .union([
    z.object({ index: entryIndex, message }),
    z.object({
      index: entryIndex,
      error: z.record(z.string(), z.unknown()).meta({
        description: 'The error object that this send alone would have been answered with',
      }),
    }),
  ])
  .meta({ id: 'BatchResult' });
export type BatchResult = z.output<typeof batchResult>;

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

/** Days and instants as queries give them: ISO 8601; a bare date is its first or last instant. */
function instant(edge: 'first' | 'last') {
  return z
    .union([z.iso.datetime({ offset: true }), z.iso.date()], 'must be an ISO 8601 date or time')
    .transform((text) => {
      const isDate = !text.includes('T');
      return Date.parse(text) + (isDate && edge === 'last' ? dayMs - 1 : 0);
    });
}

export const listMessagesQuery = z
  .strictObject({
    ...pageQuery,
    channel: z.literal('email').optional(),
    direction: z.enum(['outbound', 'inbound']).optional(),
    status: messageStatus.optional(),
    conversationId: z
      .string()
      .regex(idPattern('conversation'), 'is not a conversation id')
      .optional(),
    contactId: z.string().regex(idPattern('contact'), 'is not a contact id').optional(),
    startDate: instant('first').optional().meta({ description: 'Created at or after' }),
    endDate: instant('last')
      .optional()
      .meta({ description: 'Created at or before; a bare date includes that whole day' }),
    recipient: emailAddress
      .optional()
      .meta({ description: 'To, cc or bcc this address; a message is found within a second' }),
    sender: emailAddress.optional().meta({ description: 'From this address' }),
    subject: z
      .string()
      .min(1)
      .max(subjectCharacters)
      .optional()
      .meta({ description: 'The subject begins with this, in upper or lower case' }),
    tag: z.string().min(1).max(100).optional().meta({ description: 'It has this tag' }),
  })
  .meta({ id: 'ListMessagesQuery' });
export type ListMessagesQuery = z.output<typeof listMessagesQuery>;

const verdict = z
  .enum(['pass', 'fail', 'softfail', 'neutral', 'none', 'policy', 'temperror', 'permerror'])
  .nullable();

export const emailQuery = z.strictObject({
  includeStorageUrls: z.stringbool().optional(),
  urlExpiresIn: wholeNumber(60, 604_800)
    .optional()
    .meta({ description: 'Seconds that the storage URLs work, 60 to 604800, default 3600' }),
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
    newContent: z.string().nullable(),
    quotedContent: z.string().nullable(),
    hasQuotedContent: z.boolean(),
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
          part: z.string().optional().meta({ description: 'The MIME part, as IMAP numbers it' }),
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
