// The email view of a message (specification 2.2). Received mail, and mail handed in as MIME, shows
// the result of parsing the raw bytes. Composed mail shows the accepted content.

import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { fromJson } from '../../../platform/store/db.ts';
import { findHolds } from '../../deliveries/holds-in-force.ts';
import { findDeliveries } from '../../deliveries/queries.ts';
import { readContent } from '../contents/merge.ts';
import { attachmentsOf, type InboundEnvelope, readProjection } from '../contents/projection.ts';
import { storageUrls } from '../contents/storage-urls.ts';
import { deliveryTo } from '../delivery-to.ts';
import type { EmailProjection, EmailQuery } from '../email-schema.ts';
import { getMessageRow } from '../messages.ts';
import { presentDelivery } from '../present.ts';
import { findRecipients, type MessageRow } from '../queries.ts';

/** Attachment as stored in the content row. The bytes are in a blob. */
export interface StoredAttachment {
  filename: string;
  contentType: string;
  contentId: string | null;
  size: number;
  blobId: string;
}

type Parsed = Pick<
  EmailProjection,
  | 'newContent'
  | 'quotedContent'
  | 'hasQuotedContent'
  | 'isAutoReply'
  | 'autoReplyReason'
  | 'listUnsubscribeUrl'
  | 'listUnsubscribeEmail'
  | 'parsingErrors'
  | 'html'
  | 'text'
  | 'attachments'
>;

const nothingParsed: Parsed = {
  newContent: null,
  quotedContent: null,
  hasQuotedContent: false,
  isAutoReply: false,
  autoReplyReason: null,
  listUnsubscribeUrl: null,
  listUnsubscribeEmail: null,
  parsingErrors: null,
  html: null,
  text: null,
  attachments: [],
};

async function sentContent(app: App, row: MessageRow): Promise<Parsed> {
  if (!row.content_id) return nothingParsed;
  const content = await readContent(app, row);
  const attachments = fromJson<StoredAttachment[]>(content?.attachments ?? null) ?? [];
  return {
    ...nothingParsed,
    newContent: content?.text ?? null,
    html: content?.html ?? null,
    text: content?.text ?? null,
    attachments: attachments.map(({ blobId: _, ...shown }) => shown),
  };
}

async function rawContent(app: App, row: MessageRow): Promise<Parsed> {
  const found = await readProjection(app, row);
  return {
    newContent: found.new_content,
    quotedContent: found.quoted_content,
    hasQuotedContent: found.has_quoted_content === 1,
    isAutoReply: found.is_auto_reply === 1,
    autoReplyReason: found.auto_reply_reason,
    listUnsubscribeUrl: found.list_unsubscribe_url,
    listUnsubscribeEmail: found.list_unsubscribe_email,
    parsingErrors: fromJson<EmailProjection['parsingErrors']>(found.parsing_errors),
    html: found.html,
    text: found.text,
    attachments: attachmentsOf(found).map(({ filename, contentType, contentId, size }) => ({
      filename,
      contentType,
      contentId,
      size,
    })),
  };
}

/** Returns the email view of a message. @throws ResourceNotFoundError */
export async function getEmailProjection(
  app: App,
  caller: Caller,
  id: string,
  query: EmailQuery,
): Promise<EmailProjection> {
  const { db } = app.store;
  const row = await getMessageRow(db, caller.organizationId, id);
  const recipients = await findRecipients(db, [id]);
  const deliveries = await findDeliveries(db, [id]);
  const holds = await findHolds(db, deliveries);
  const isRaw = row.direction === 'inbound' || row.content_id === null;
  const copy = query.recipient === undefined ? null : deliveryTo(deliveries, query.recipient);
  const content = await (isRaw ? rawContent : sentContent)(app, row);
  const envelope = fromJson<InboundEnvelope>(row.inbound_envelope);
  const emailsOf = (kind: 'to' | 'cc' | 'bcc') =>
    recipients.filter((one) => one.kind === kind).map((one) => one.email);
  const orNull = <T>(list: T[]) => (list.length > 0 ? list : null);
  return {
    deliveries: deliveries.map((one) => presentDelivery(one, holds.of(one))),
    id: row.id,
    organizationId: row.organization_id,
    conversationId: row.conversation_id,
    status: row.status,
    channel: 'email',
    direction: row.direction,
    subject: row.subject,
    fromEmail: row.from_email,
    fromName: row.from_name,
    toEmails: emailsOf('to'),
    ccEmails: orNull(emailsOf('cc')),
    bccEmails: orNull(emailsOf('bcc')),
    replyToEmails: fromJson<string[]>(row.reply_to),
    messageIdHeader: row.message_id_header,
    inReplyTo: row.in_reply_to,
    references: fromJson<string[]>(row.message_references),
    threadPosition: await app.hooks.threads.positionOf(db, id),
    dkimVerdict: envelope?.dkimVerdict ?? null,
    spfVerdict: envelope?.spfVerdict ?? null,
    dmarcVerdict: envelope?.dmarcVerdict ?? null,
    priority: row.priority,
    ...content,
    arcVerdict: envelope?.arcVerdict ?? null,
    authenticationResults: envelope?.authenticationResults ?? null,
    ...(query.includeStorageUrls && {
      storageUrls: storageUrls(
        app,
        row.id,
        { expiresInSeconds: query.urlExpiresIn, deliveryId: copy?.id ?? null },
        content,
      ),
    }),
  };
}
