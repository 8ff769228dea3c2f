// Builds compose requests from rows: reads attachments and keys from the store. With the same keys
// and time of signing, a message composes to the same bytes at every attempt. copy.ts has the parts
// of a single copy.
import type { App } from '../../../core/app.ts';
import { readBlob } from '../../../core/blobs/blobs.ts';
import { signingKeysOf } from '../../../identity/domains/signing-keys.ts';
import type {
  ComposeAttachment,
  ComposeInput,
  ComposeRequest,
  RawInput,
} from '../../../mail/mime/input.ts';
import { fromJson } from '../../../platform/store/db.ts';
import type { ContentRow } from '../../messages/contents/content-queries.ts';
import { withFeedbackFields } from '../../messages/feedback-fields.ts';
import type { StoredAttachment } from '../../messages/lists/email-projection.ts';
import type { MessageRow, RecipientRow } from '../../messages/queries.ts';

/** Rows that composing needs. */
export interface MessageParts {
  message: MessageRow;
  content: ContentRow | null;
  recipients: readonly RecipientRow[];
  /** Unsubscribe group of the deliveries. */
  groupId: string | null;
}

/** Keys and time of the signatures of an attempt. */
export type Signing = Pick<ComposeRequest, 'keys' | 'timestampSeconds'>;

/** Returns the present keys of the message's domain, to sign with now. */
export async function signingNow(
  app: App,
  { sender_domain_id: domainId }: Pick<MessageRow, 'sender_domain_id'>,
): Promise<Signing> {
  const timestampSeconds = Math.floor(app.clock.now() / 1000);
  return { keys: domainId === null ? [] : await signingKeysOf(app, domainId), timestampSeconds };
}

/** Returns the request to compose a message and to sign it. */
export async function composeRequestOf(
  app: App,
  parts: MessageParts,
  signing: Signing,
): Promise<ComposeRequest> {
  const blobId = parts.message.raw_blob_id;
  const input = blobId === null ? await composeInput(app, parts) : await rawInput(app, blobId);
  return { input, ...signing };
}

/** Reads mail that was submitted as MIME. */
async function rawInput(app: App, blobId: string): Promise<RawInput> {
  const raw = await readBlob(app, blobId);
  if (!raw) throw new Error(`blob ${blobId} of a message is missing`);
  return { raw };
}

async function composeInput(
  app: App,
  { message, content, recipients, groupId }: MessageParts,
): Promise<ComposeInput> {
  const { html = null, text = null } = content ?? {};
  const attachments = await loadAttachments(app, content);
  return composeInputOf(message, recipients, groupId, { html, text, attachments });
}

/** Returns the parts of a mail. Row, recipients and group give the header, `body` the rest. */
export function composeInputOf(
  message: MessageRow,
  recipients: readonly RecipientRow[],
  groupId: string | null,
  body: Pick<ComposeInput, 'html' | 'text' | 'attachments'>,
): ComposeInput {
  const given = Object.entries(fromJson<Record<string, string>>(message.headers) ?? {});
  const mailboxesOf = (kind: RecipientRow['kind']) =>
    recipients.filter((one) => one.kind === kind).map(({ email, name }) => ({ email, name }));
  return {
    messageIdHeader: message.message_id_header,
    date: message.created_at,
    from: { email: message.from_email, name: message.from_name },
    to: mailboxesOf('to'),
    cc: mailboxesOf('cc'),
    replyTo: fromJson<string[]>(message.reply_to) ?? [],
    subject: message.subject ?? '',
    ...body,
    headers: withFeedbackFields(message, groupId, given),
    inReplyTo: message.in_reply_to,
    references: fromJson<string[]>(message.message_references),
    priority: message.priority,
    boundarySeed: message.id,
  };
}

async function loadAttachments(app: App, content: ContentRow | null): Promise<ComposeAttachment[]> {
  const stored = fromJson<StoredAttachment[]>(content?.attachments ?? null) ?? [];
  return Promise.all(
    stored.map(async ({ filename, contentType, contentId, blobId }) => {
      const bytes = await readBlob(app, blobId);
      if (!bytes) throw new Error(`blob ${blobId} of content ${content?.id} is missing`);
      return { filename, contentType, contentId, content: bytes };
    }),
  );
}
