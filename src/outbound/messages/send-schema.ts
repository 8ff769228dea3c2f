// Payloads of `POST /v1/messages` with their limits (specification 4.2): of a send, of a scheduled
// send, of a batch. Text for a header field that holds CR, LF or NUL is refused here, with a 422
// that names the field, and never cleaned up silently. The shape of a stored message is in
// schema.ts.

import { z } from 'zod';
import { emailAddress, headerText, notHeaderSafe } from '../../core/api/address-schema.ts';
import { boundedMap, storedMap } from '../../core/api/bounded-schema.ts';
import { idOf, instantAs } from '../../core/api/resource-schema.ts';
import {
  encodeExtraHeader,
  isRefusedHeader,
  unwritable,
} from '../../mail/mime/headers/header-encoding.ts';
import { readMediaType } from '../../mail/mime/media-type.ts';
import { contactNoun } from '../../people/contacts/schema.ts';
import { conversationNoun } from '../../people/conversations/schema.ts';
import { isAscii } from '../../platform/full-text/words.ts';
import { isHeaderSafe } from '../../platform/net/address.ts';
import { messageId, metadataValue } from './schema.ts';
import { isThreadingField, maxReferences, refusedThreading } from './threading-headers.ts';

/** Most recipients of one message, over to, cc and bcc. */
export const mostRecipients = 50;
/** Most bytes of all attachments of one message, once encoded. */
export const mostAttachmentsBytes = 40 * 1024 * 1024;
const maxAttachments = 100;
const maxHeaders = 50;
const maxMetadata = 50;
const maxTemplateData = 1_000;
const maxBodyCharacters = 20 * 1024 * 1024;
const maxHeaderValue = 998;

const recipientEntry = z
  .strictObject({
    email: emailAddress.optional().describe('Address of the recipient; or give `contactId`'),
    contactId: idOf(contactNoun, 'is not a contact id')
      .optional()
      .describe('Contact whose address gets the mail; or give `email`'),
    name: headerText(200).optional().meta({ description: 'Display name' }),
  })
  .refine((entry) => (entry.email === undefined) !== (entry.contactId === undefined), {
    message: 'needs exactly one of email and contactId',
  });

/**
 * Recognizes base64 (RFC 4648 section 4), with line breaks allowed. Decodes the text and compares
 * the length, as Node skips characters outside of the alphabet. A pattern takes 20 times as long.
 * Removes line breaks in runs of a thousand, because a run of millions can overflow the stack of
 * the matcher.
 */
function isBase64(text: string): boolean {
  const isWrapped = text.includes('\n') || text.includes('\r');
  const data = isWrapped ? text.replace(/[\r\n]{1,1000}/g, '') : text;
  // Node also decodes base64url (section 5), and uses only the low byte of a character.
  const isForeign = data.includes('-') || data.includes('_') || !isAscii(data);
  if (data.length % 4 !== 0 || isForeign) return false;
  const padding = data.endsWith('==') ? 2 : Number(data.endsWith('='));
  return Buffer.from(data, 'base64').length === (data.length / 4) * 3 - padding;
}

const attachment = z.strictObject({
  filename: headerText(255).min(1).describe('File name that the reader sees'),
  content: z
    .string()
    .refine(isBase64, 'must be base64')
    .meta({ description: 'The file, base64 (RFC 4648 section 4)' }),
  contentType: z
    .string()
    .max(255)
    .overwrite((type) => readMediaType(type) ?? type)
    .refine((type) => readMediaType(type) !== null, 'is not a media type')
    .refine((type) => !/^(?:multipart|message)\//i.test(type), 'must be a single part')
    .optional()
    .meta({ description: 'Media type with parameters (RFC 2045 5.1); default: by the file name' }),
  contentId: z
    .string()
    .max(255)
    .overwrite((id) => /^<([^<>]*)>$/.exec(id)?.[1] ?? id)
    .regex(/^[\w.@+-]+$/, 'may have only letters, digits and . _ @ + -')
    .optional()
    .describe('Id by which the HTML shows the file, as `cid:ID`'),
});

/** Attachments of a mail. `boundedAttachments` limits their total size. */
export const attachmentList = z.array(attachment).max(maxAttachments);

/** Returns the reason to refuse the value of a field that is not for threading, or null. */
function brokenHeader(name: string, value: string): string | null {
  if (value.length > maxHeaderValue) {
    return `must have at most ${maxHeaderValue} characters`;
  }
  return encodeExtraHeader(name, value) === null ? unwritable : null;
}

const customHeaders = boundedMap(
  z.record(z.string(), z.string().max(maxReferences).refine(isHeaderSafe, notHeaderSafe)),
  maxHeaders,
  `at most ${maxHeaders} headers`,
).superRefine((headers, context) => {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const twice = seen.has(name.toLowerCase()) ? 'is given twice' : null;
    const message = (isThreadingField(name) ? null : isRefusedHeader(name)) ?? twice;
    const broken = isThreadingField(name)
      ? refusedThreading(name, value)
      : brokenHeader(name, value);
    const found = message ?? broken;
    if (found) context.addIssue({ code: 'custom', path: [name], message: found });
    seen.add(name.toLowerCase());
  }
});

/** Body of a mail. NUL is invalid in it (RFC 5322 4.1), and PostgreSQL cannot store it. */
export const bodyText = z
  .string()
  .max(maxBodyCharacters)
  .refine((text) => !text.includes('\0'), 'must not contain NUL characters');

/** Fields of the content that a send and a campaign share. */
export const emailFields = {
  subject: headerText(998).optional().describe('Subject line; left out with a template'),
  html: bodyText.optional().describe('HTML of the mail; left out with a template'),
  text: bodyText.optional().meta({
    description: 'Default for HTML: a text made from it; an empty text is left out of the mail',
  }),
  replyTo: z
    .array(emailAddress)
    .min(1)
    .max(10)
    .optional()
    .describe('Addresses that replies go to (default: those of the sender)'),
  templateId: idOf('template', 'is not a template id')
    .optional()
    .describe('Published template to fill, by id'),
  templateSlug: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Published template to fill, by slug'),
  templateData: boundedMap(z.record(z.string(), z.unknown()), maxTemplateData)
    .optional()
    .describe('Values for the template'),
  attachments: attachmentList.optional().describe('Files to attach, 40 MB in all once encoded'),
  headers: customHeaders.optional().meta({
    description:
      'Up to 50 header fields that the service does not set. `In-Reply-To` (a message id) and ' +
      '`References` (up to 50) continue a thread that began elsewhere',
  }),
  tracking: z
    .strictObject({
      opens: z.boolean().optional().describe('Record opens by a pixel in the HTML'),
      clicks: z.boolean().optional().describe('Record clicks by rewritten links in the HTML'),
    })
    .optional()
    .meta({
      description:
        'Whether opens and clicks are tracked; default: the setting of the organization. ' +
        'Mail without HTML is not tracked. A tracked message goes alone to each recipient',
    }),
  unsubscribeGroupId: z
    .string()
    .max(40)
    .optional()
    .describe('Unsubscribe group: the mail gets a link to leave it'),
  footer: z
    .strictObject({ enabled: z.boolean().describe('Whether the mail has the footer') })
    .optional()
    .meta({
      description:
        'Whether company, postal address, social links and the unsubscribe link of the brand are ' +
        'added; default: no. A template with `{% brand_footer %}` has them at its place',
    }),
  inReplyToMessageId: messageId
    .optional()
    .describe('Message that this mail answers: both are in the same thread'),
  priority: z
    .enum(['high', 'normal', 'low'])
    .optional()
    .describe('Importance that mail programs show'),
};

const emailContent = z
  .strictObject(emailFields)
  .superRefine(oneContentSource)
  .superRefine(dataNeedsTemplate)
  .superRefine(oneWayToLeave)
  .superRefine(oneThread)
  .superRefine(boundedAttachments);

/** Refuses threading fields beside `inReplyToMessageId`: the service derives them from it. */
function oneThread(
  email: { headers?: Record<string, string> | undefined; inReplyToMessageId?: string | undefined },
  context: z.RefinementCtx,
): void {
  if (email.inReplyToMessageId === undefined) return;
  for (const name of Object.keys(email.headers ?? {}).filter(isThreadingField)) {
    const message = 'is set by inReplyToMessageId: leave out either';
    context.addIssue({ code: 'custom', path: ['headers', name], message });
  }
}

type EmailFields = {
  [K in 'subject' | 'html' | 'text' | 'templateId' | 'templateSlug']?: string | undefined;
};

/**
 * Checks that a content is either written in place or a template (specification 4.2, rules 1 and
 * 2).
 */
export function oneContentSource(email: EmailFields, context: z.RefinementCtx): void {
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message });
  if (hasTemplate(email)) {
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
}

function hasTemplate({ templateId, templateSlug }: EmailFields): boolean {
  return templateId !== undefined || templateSlug !== undefined;
}

/** Refuses data without a template: nothing uses it, as inline content is not filled (rule 3). */
function dataNeedsTemplate(
  email: EmailFields & { templateData?: unknown },
  context: z.RefinementCtx,
): void {
  if (email.templateData === undefined || hasTemplate(email)) return;
  context.addIssue({ code: 'custom', path: ['templateData'], message: 'needs a template' });
}

/**
 * Refuses List-Unsubscribe fields of the caller beside a group: the service writes them (RFC 8058).
 */
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
  const message = `${own} is set by the service if there is an unsubscribeGroupId`;
  context.addIssue({ code: 'custom', path: ['headers'], message });
}

/** Refuses attachments that together exceed the size of one mail. */
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

const tooManyRecipients = `at most ${mostRecipients} recipients over to, cc and bcc`;
const recipients = <List extends z.ZodArray>(list: List) =>
  list.max(mostRecipients, tooManyRecipients);

/** Example that is valid with any default sender: the recipient is a mailbox of this service. */
const sendExample = {
  channel: 'email',
  to: [{ email: 'inbox@sandbox.test' }],
  email: { subject: 'Hello', text: 'It works.' },
};

/** The send payload (specification 4.2). */
export const sendPayload = z
  .strictObject({
    channel: z.literal('email').describe('Always `email`'),
    to: recipients(z.array(recipientEntry).min(1, 'needs at least one recipient')).describe(
      'Recipients in To; at most 50 over to, cc and bcc',
    ),
    cc: recipients(z.array(recipientEntry)).optional().describe('Recipients in Cc'),
    bcc: recipients(z.array(recipientEntry))
      .optional()
      .describe('Recipients in Bcc, hidden from all recipients'),
    from: z
      .strictObject({
        email: emailAddress.describe('Address of the sender'),
        name: headerText(200)
          .optional()
          .describe('Display name (default: that of the sender identity)'),
      })
      .optional()
      .meta({ description: 'A verified sender, or any address of a verified domain' }),
    email: emailContent.describe('Content: a subject with html or text, or a template'),
    conversationId: idOf(conversationNoun, 'is not a conversation id')
      .optional()
      .describe('Conversation that the message joins'),
    tags: z
      .array(z.string().min(1).max(100))
      .max(10)
      .optional()
      .describe('Tags for filters, at most 10'),
    metadata: storedMap(z.record(z.string().min(1).max(100), metadataValue), maxMetadata)
      .optional()
      .describe('Values to keep with the message, at most 50 keys'),
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
  .meta({ examples: [sendExample] });

export type SendPayload = z.output<typeof sendPayload>;

/** The body of a single send: the payload, or a request for a dry run. */
export const sendBody = sendPayload
  .safeExtend({
    dryRun: z.boolean().optional().meta({
      description:
        'Answer 200 with what would be sent and refused, and store nothing; for single sends',
    }),
  })
  .meta({ id: 'SendPayload', description: 'A message to send', examples: [sendExample] });

/** The body of a scheduled send. It contains the idempotency key (specification 4.8). */
export const scheduledPayload = sendPayload
  .safeExtend({
    scheduledFor: instantAs(
      'must be an ISO 8601 time with its offset, such as 2026-01-05T12:00:00Z',
    )
      .transform((text) => Date.parse(text))
      .meta({ description: 'Time of sending: not past, and within a year' }),
    idempotencyKey: headerText(255)
      .min(1)
      .nullish()
      .meta({ description: 'Repeating a request with the same key returns the original message' }),
  })
  .meta({
    id: 'ScheduledPayload',
    description: 'A message to send later',
    examples: [{ ...sendExample, scheduledFor: '2026-01-05T12:00:00.000Z' }],
  });

export type ScheduledPayload = z.output<typeof scheduledPayload>;

/** Entry of a batch: documented as a send payload, but checked later and separately. */
const batchEntry = z.unknown().meta({ $ref: '#/components/schemas/SendPayload' });

/** The body of a batch. A wrong entry fails alone, not the whole request. */
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
