// Drafts the rows of a received message: one copy for each addressed mailbox, so that organizations
// share nothing and delete separately. Pure except for new ids. Specification 2.2 defines the
// fields.

import type { App } from '../../core/app.ts';
import { draftBlob } from '../../core/blobs/blobs.ts';
import type { BlobRow } from '../../core/blobs/queries.ts';
import type { MessageEvent } from '../../history/events/record.ts';
import type { HeaderAddress, ParsedMail } from '../../mail/mime/parsed-mail.ts';
import type { InboundEnvelope } from '../../outbound/messages/contents/projection.ts';
import { madeUpMessageId } from '../../outbound/messages/own-message-id.ts';
import type { MessageRow, RecipientRow } from '../../outbound/messages/queries.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { toJson } from '../../platform/store/db.ts';
import type { MailboxAddressee } from './resolve.ts';

/** All rows of a message for a mailbox. */
export interface InboundCopy {
  blob: BlobRow;
  message: MessageRow;
  recipients: RecipientRow[];
  event: MessageEvent;
  /** Message-IDs that the mail answers, the nearest first. */
  answers: readonly string[];
  isAutoReply: boolean;
  /** From address; null unless DMARC passed. */
  provenSender: string | null;
}

/** A received mail, from which all copies are drafted. */
export interface InboundMail {
  header: ParsedMail;
  /** Our Received field for the mail. */
  trace: Buffer;
  /** The received mail with CRLF line ends. */
  raw: Buffer;
  envelope: Omit<InboundEnvelope, 'recipients'>;
  receivedAt: number;
}

/**
 * Most recipients that a message shows. The raw mail has all recipients, and 100 mailboxes may be
 * addressed at once.
 */
const mostRecipients = 500;
const unknownSender = 'unknown@invalid';

function orNull<T>(list: readonly T[]): string | null {
  return list.length > 0 ? toJson(list) : null;
}

/**
 * Lists the header's To and Cc. Lists as Bcc the addresses of this mailbox that the header does not
 * name. Addresses of other mailboxes stay hidden.
 */
function draftRecipients(
  app: App,
  messageId: string,
  header: ParsedMail,
  addresses: readonly string[],
): RecipientRow[] {
  const named = new Set([...header.to, ...header.cc].map(({ email }) => foldAddress(email)));
  const blind = addresses
    .filter((email) => !named.has(foldAddress(email)))
    .map((email) => ({ email, name: null }));
  const ofKind = (kind: RecipientRow['kind'], list: readonly HeaderAddress[]) =>
    list.map(({ email, name }) => ({ kind, email, name }));
  const listed = [...ofKind('to', header.to), ...ofKind('cc', header.cc)];
  const shown = listed.slice(0, mostRecipients - blind.length);
  return [...shown, ...ofKind('bcc', blind)].map((one, position) => ({
    id: app.newId('recipient'),
    message_id: messageId,
    ...one,
    contact_id: null,
    position,
  }));
}

function draftMessage(
  id: string,
  blobId: string,
  { header, envelope, receivedAt }: InboundMail,
  to: readonly MailboxAddressee[],
): Omit<MessageRow, 'organization_id' | 'mailbox_id'> {
  const recipients = to.map(({ address }) => address);
  return {
    id,
    direction: 'inbound',
    status: 'delivered',
    subject: header.subject,
    from_email: header.from?.email ?? (envelope.mailFrom || unknownSender),
    from_name: header.from?.name ?? null,
    reply_to: orNull(header.replyTo.map(({ email }) => email)),
    message_id_header: header.messageIdHeader ?? madeUpMessageId(id),
    in_reply_to: header.inReplyTo,
    message_references: orNull(header.references),
    priority: header.priority,
    headers: null,
    content_id: null,
    raw_blob_id: blobId,
    sender_domain_id: null,
    conversation_id: null,
    campaign_run_id: null,
    template_id: null,
    tags: null,
    metadata: null,
    track_opens: 0,
    track_clicks: 0,
    scheduled_for: null,
    scheduling_key_id: null,
    inbound_envelope: toJson({
      ...envelope,
      recipients,
      ...(header.from === null && { isAuthorUnknown: true }),
    } satisfies InboundEnvelope),
    origin: null,
    is_test: 0,
    delivery_count: 0,
    created_at: receivedAt,
    updated_at: receivedAt,
  };
}

function draftCopy(
  app: App,
  mail: InboundMail,
  mailbox: MailboxAddressee,
  to: readonly MailboxAddressee[],
): InboundCopy {
  const { organizationId, mailboxId } = mailbox;
  const owner = { organization_id: organizationId };
  const id = app.newId('message');
  const { raw, trace, receivedAt, header, envelope } = mail;
  const blob = draftBlob(app, organizationId, raw, trace);
  return {
    provenSender: envelope.dmarcVerdict === 'pass' ? (header.from?.email ?? null) : null,
    blob,
    message: { ...draftMessage(id, blob.id, mail, to), ...owner, mailbox_id: mailboxId },
    recipients: draftRecipients(
      app,
      id,
      mail.header,
      to.map(({ address }) => address),
    ),
    event: {
      organizationId,
      messageId: id,
      recipientId: null,
      eventType: 'delivered',
      status: 'delivered',
      timestamp: receivedAt,
      metadata: { mailboxId, remoteAddress: mail.envelope.remoteAddress },
    },
    answers: answersIn(mail.header),
    isAutoReply: mail.header.isAutoReply,
  };
}

/**
 * Returns the answered ids (RFC 5322 3.6.4): In-Reply-To, then References from the newest to the
 * oldest.
 */
function answersIn({ inReplyTo, references }: ParsedMail): string[] {
  return [...new Set([inReplyTo ?? [], ...references.toReversed()].flat())];
}

/** Drafts one copy for each mailbox among the addressees, in their order. */
export function draftCopies(
  app: App,
  mail: InboundMail,
  addressees: readonly MailboxAddressee[],
): InboundCopy[] {
  const byMailbox = Map.groupBy(addressees, ({ mailboxId }) => mailboxId);
  return [...byMailbox.values()].flatMap((to) => {
    const [mailbox] = to;
    return mailbox ? [draftCopy(app, mail, mailbox, to)] : [];
  });
}
