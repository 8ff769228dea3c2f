// The rows of an accepted message: message, content, recipients (duplicates folded) and a delivery
// for each. Decides nothing and writes nothing.

import { type Caller, callerId } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { draftBlob } from '../../core/blobs/blobs.ts';
import type { BlobRow } from '../../core/blobs/queries.ts';
import type { ResolvedSender } from '../../identity/senders/resolve.ts';
import { dateField, messageIdField, rawMailFront } from '../../mail/mime/raw-mail.ts';
import { type ActiveBlocks, suppressedBy } from '../../people/blocks/suppression.ts';
import { domainOf, foldAddress } from '../../platform/net/address.ts';
import { fromJson, toJson } from '../../platform/store/db.ts';
import type { DeliveryRow } from '../deliveries/queries.ts';
import { overallStatus } from '../deliveries/status.ts';
import type { ContentRow } from '../messages/contents/content-queries.ts';
import type { MessageValuesRow } from '../messages/contents/merge-queries.ts';
import { feedbackField } from '../messages/feedback-fields.ts';
import type { StoredAttachment } from '../messages/lists/email-projection.ts';
import { presentMessage } from '../messages/present.ts';
import type { MessageRow, RecipientRow } from '../messages/queries.ts';
import type { Message, StoredOrigin } from '../messages/schema.ts';
import type { SendPayload } from '../messages/send-schema.ts';
import { statedThreading } from '../messages/threading-headers.ts';
import { expiryOf, maxAttempts, scheduleOf } from '../queue/settling/retry.ts';
import { type FoundLinks, mostCharacters } from '../tracking/links.ts';
import type { SendContent } from './content.ts';
import type { RawContent } from './hand-in/raw-content.ts';
import { headingOf, rawHeading, threadingOf } from './heading.ts';
import type { RecentContents } from './recent-contents.ts';

/** All rows of a message, and the answer of the 201. */
export interface Draft {
  message: MessageRow;
  /** Id of the sender identity; null for an address without a sender identity. */
  senderId: string | null;
  content: ContentRow | null;
  /** Links of `content` if the message is tracked. */
  links: FoundLinks | null;
  /** Links that cannot be tracked, or a replaced From, for the first event; null without them. */
  remarks: Record<string, unknown> | null;
  blobs: BlobRow[];
  recipients: RecipientRow[];
  deliveries: DeliveryRow[];
  /** Values for filling the content; null for a content that needs no filling. */
  values: MessageValuesRow | null;
  presented: Message;
}

/** The campaign run that a message belongs to, and the values of the contact. */
export interface RunMail {
  id: string;
  /** JSON of `MergeData`; null for a content that needs no filling. */
  mergeData: string | null;
}

/** Version of the template that filled the content, and facts that the values may contain. */
export interface FilledTemplate {
  /** Id of the template; null for content of the payload that only got the footer of a brand. */
  id: string | null;
  version: number | null;
  messageId: string;
  /** Ms since 1970. */
  createdAt: number;
}

/** A send with all resources read. `resent` is the message that it repeats. */
interface DraftedSend {
  caller: Caller;
  payload: SendPayload;
  content: SendContent;
  resent?: MessageRow;
  template?: FilledTemplate;
  onBehalfOf?: string;
  isShort?: boolean;
  run?: RunMail;
}

/**
 * Drafts a message; `parent` is the message to which it replies. A delivery to a blocked address
 * ends here. If all deliveries end, the 201 has the status `failed` and not `pending`, as nothing
 * is left to send. Uses stored contents that `recent` knows.
 */
export function draftMessage(
  app: App,
  recent: RecentContents,
  { caller, payload, content, resent, template, run, onBehalfOf, isShort }: DraftedSend,
  sender: ResolvedSender,
  parent: MessageRow | null,
  blocks: ActiveBlocks,
): Draft {
  const now = template?.createdAt ?? app.clock.now();
  const id = template?.messageId ?? app.newId('message');
  const heading =
    content.raw === null
      ? { ...headingOf(payload, sender, parent, id), ...threadingOf(resent) }
      : rawHeading(content.raw, id, sender);
  const stored =
    content.raw === null
      ? sharedContent(app, recent, caller, content)
      : draftRaw(app, recent, caller, content, content.raw, heading.message_id_header);
  const recipients = draftRecipients(app, id, payload);
  const senderDomain = domainOf(sender.email);
  const schedule = scheduleOf(app, caller.organizationId, isShort);
  const ends = { max_attempts: maxAttempts(schedule), expires_at: expiryOf(schedule, now) };
  const deliveries = recipients.map((recipient) => {
    const delivery = {
      ...draftDelivery(app, caller.organizationId, senderDomain, recipient, now),
      ...ends,
      unsubscribe_group_id: payload.email.unsubscribeGroupId ?? null,
      campaign_run_id: run?.id ?? null,
    };
    const block = blocks.get(foldAddress(recipient.email));
    return block ? { ...delivery, ...suppressedBy(block, recipient.email, now) } : delivery;
  });
  const message: MessageRow = {
    id,
    organization_id: caller.organizationId,
    direction: 'outbound',
    status: overallStatus(deliveries.map(({ status }) => status)),
    ...heading,
    from_email: sender.email,
    headers: toJson(statedThreading(payload.email.headers).rest),
    content_id: stored.contentId,
    raw_blob_id: stored.rawBlobId,
    mailbox_id: null,
    sender_domain_id: sender.domainId,
    conversation_id: payload.conversationId ?? null,
    campaign_run_id: run?.id ?? null,
    template_id: template?.id ?? resent?.template_id ?? null,
    tags: toJson(payload.tags),
    metadata: toJson(payload.metadata),
    track_opens: content.tracking.opens ? 1 : 0,
    track_clicks: content.tracking.clicks ? 1 : 0,
    scheduled_for: null,
    scheduling_key_id: null,
    inbound_envelope: null,
    origin: toJson(originOf(caller, { raw: content.raw, resent, template, onBehalfOf })),
    is_test: caller.isTest ? 1 : 0,
    delivery_count: deliveries.length,
    created_at: now,
    updated_at: now,
  };
  const presented = presentMessage(message, recipients, deliveries);
  return {
    message,
    senderId: sender.id,
    content: stored.content,
    links: stored.content && content.links,
    remarks: remarksOf(content),
    blobs: stored.blobs,
    recipients,
    deliveries,
    values: run?.mergeData ? { message_id: id, merge_data: run.mergeData } : null,
    presented,
  };
}

/** Returns the facts about a content that the timeline shows. */
function remarksOf(content: SendContent): Draft['remarks'] {
  const replacedFrom = content.raw?.replacedFrom ?? null;
  return replacedFrom === null ? untrackedOf(content) : { replacedFrom };
}

/** Returns facts about links that cannot be tracked, for the timeline; null if all are tracked. */
function untrackedOf({ links, tracking }: SendContent): Draft['remarks'] {
  if (!links || (links.found === links.urls.length && !links.isCut)) return null;
  return {
    ...(tracking.clicks && { links: links.found, trackedLinks: links.urls.length }),
    ...(links.isCut && { trackedCharacters: mostCharacters }),
  };
}

interface Origins {
  raw: RawContent | null;
  resent: MessageRow | undefined;
  template: FilledTemplate | undefined;
  onBehalfOf: string | undefined;
}

function originOf(caller: Caller, { raw, resent, template, onBehalfOf }: Origins): StoredOrigin {
  const own = caller.by.kind === 'operator' ? 'command' : 'api';
  const via = onBehalfOf === undefined ? (raw?.via ?? own) : 'service';
  const first = fromJson<StoredOrigin>(resent?.origin ?? null);
  const templateVersion = template?.version ?? first?.templateVersion;
  return {
    via,
    keyId: callerId(caller),
    keyName: caller.keyName,
    user: raw?.user ?? null,
    ...(resent && { resendOf: resent.id }),
    ...(templateVersion != null && { templateVersion }),
  };
}

/** The rows that keep the content of a message. */
interface StoredContent {
  contentId: string | null;
  rawBlobId: string | null;
  content: ContentRow | null;
  blobs: BlobRow[];
}

const nothingStored: StoredContent = {
  contentId: null,
  rawBlobId: null,
  content: null,
  blobs: [],
};

/** Drafts a mail that is sent as MIME, and the content for display if it is known. */
function draftRaw(
  app: App,
  recent: RecentContents,
  caller: Caller,
  sendContent: SendContent,
  { mail, messageIdHeader, hasDate, hasFeedbackId }: RawContent,
  messageId: string,
): StoredContent {
  const front = rawMailFront(mail, [
    ...(hasFeedbackId ? [] : [feedbackField(caller.organizationId)]),
    ...(messageIdHeader === null ? [messageIdField(messageId)] : []),
    ...(hasDate ? [] : [dateField(app.clock.now())]),
  ]);
  const blob = draftBlob(app, caller.organizationId, mail.body, front);
  const isKnown = sendContent.digest !== '';
  const said = isKnown ? sharedContent(app, recent, caller, sendContent) : nothingStored;
  return { ...said, rawBlobId: blob.id, blobs: [...said.blobs, blob] };
}

/** Returns the row of the content, or the id of an equal content that is already stored. */
function sharedContent(
  app: App,
  recent: RecentContents,
  { organizationId }: Caller,
  content: SendContent,
): StoredContent {
  const known = recent.find(content.digest);
  if (known) return { contentId: known, rawBlobId: null, content: null, blobs: [] };
  const drafted = draftContent(app, organizationId, content);
  recent.remember(content.digest, drafted.content.id);
  return { contentId: drafted.content.id, rawBlobId: null, ...drafted };
}

/** Drafts the rows that store a content: the texts, and a blob for each attachment. */
export function draftContent(
  app: App,
  organizationId: string,
  { html, text, attachments }: SendContent,
): { content: ContentRow; blobs: BlobRow[] } {
  const owned = { organization_id: organizationId, created_at: app.clock.now() };
  const blobs: BlobRow[] = [];
  const stored = attachments.map(({ data, ...attachment }): StoredAttachment => {
    const blob = draftBlob(app, organizationId, data);
    blobs.push(blob);
    return { ...attachment, size: data.length, blobId: blob.id };
  });
  const content: ContentRow = {
    ...owned,
    id: app.newId('content'),
    html,
    text,
    attachments: stored.length > 0 ? toJson(stored) : null,
    uses: 0,
  };
  return { content, blobs };
}

/** Returns the recipients, each address once. The first mention counts: to before cc before bcc. */
function draftRecipients(app: App, messageId: string, payload: SendPayload): RecipientRow[] {
  const rows = new Map<string, RecipientRow>();
  for (const kind of ['to', 'cc', 'bcc'] as const) {
    for (const { email, name, contactId } of payload[kind] ?? []) {
      if (email === undefined) continue;
      const known = rows.get(foldAddress(email));
      if (known) {
        known.contact_id ??= contactId ?? null;
        continue;
      }
      rows.set(foldAddress(email), {
        id: app.newId('recipient'),
        message_id: messageId,
        kind,
        email,
        name: name ?? null,
        contact_id: contactId ?? null,
        position: rows.size,
      });
    }
  }
  return [...rows.values()];
}

function draftDelivery(
  app: App,
  organizationId: string,
  senderDomain: string,
  recipient: RecipientRow,
  now: number,
): Omit<DeliveryRow, 'max_attempts' | 'expires_at'> {
  return {
    id: app.newId('delivery'),
    message_id: recipient.message_id,
    recipient_id: recipient.id,
    organization_id: organizationId,
    sender_domain: senderDomain,
    email: recipient.email,
    domain: domainOf(recipient.email),
    lane: null,
    turn: null,
    status: 'pending',
    attempt_count: 0,
    due_at: now,
    claimed_by: null,
    wait_reason: null,
    queued_at: now,
    claimed_at: null,
    last_attempt_at: null,
    sent_at: null,
    delivered_at: null,
    read_at: null,
    failed_at: null,
    terminal_at: null,
    error_code: null,
    error_message: null,
    error_details: null,
    attempts: null,
    planned_at: null,
    early_attempts: 0,
    transaction_id: null,
    unsubscribe_group_id: null,
    campaign_run_id: null,
    created_at: now,
    updated_at: now,
  };
}
