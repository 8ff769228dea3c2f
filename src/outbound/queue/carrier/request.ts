// Builds compose requests from rows: reads attachments and keys from the store. A message composes to the
// same bytes at every attempt, except for the DKIM timestamp. Tracked mail has the links of its recipient. A
// download has the original links, so that viewing it records no open.
import type { App } from '../../../core/app.ts';
import { signingKeysOf } from '../../../identity/domains/signing-keys.ts';
import type {
  ComposeAttachment,
  ComposeInput,
  ComposeRequest,
  RawInput,
} from '../../../mail/mime/input.ts';
import { fromJson } from '../../../platform/store/db.ts';
import { type ContentRow, findBlob } from '../../messages/content-queries.ts';
import type { StoredAttachment } from '../../messages/email-projection.ts';
import type { MessageRow, RecipientRow } from '../../messages/queries.ts';
import { trackingBase } from '../../tracking/base-url.ts';
import { type Cuts, fillLinks } from '../../tracking/links.ts';
import { pixel, tokensOf } from '../../tracking/tokens.ts';

/** Rows that composing needs. */
export interface MessageParts {
  message: MessageRow;
  content: ContentRow | null;
  recipients: readonly RecipientRow[];
}

/** Returns the request to compose a message and to sign it with the present keys of its domain. */
export async function composeRequestOf(app: App, parts: MessageParts): Promise<ComposeRequest> {
  const { message } = parts;
  const blobId = message.raw_blob_id;
  const input = blobId === null ? await composeInput(app, parts) : await rawInput(app, blobId);
  const keys = message.sender_domain_id ? await signingKeysOf(app, message.sender_domain_id) : [];
  return { input, keys, timestampSeconds: Math.floor(app.clock.now() / 1000) };
}

/** Reads mail that was handed in as MIME. */
async function rawInput(app: App, blobId: string): Promise<RawInput> {
  const raw = await findBlob(app.store.db, blobId);
  if (!raw) throw new Error(`blob ${blobId} of a message is missing`);
  return { raw };
}

/** Returns the request for one recipient: opens and clicks of this copy name its delivery. */
export function trackedRequestOf(
  app: App,
  { message }: MessageParts,
  request: ComposeRequest,
  cuts: Cuts,
  deliveryId: string,
): ComposeRequest {
  if ('raw' in request.input || request.input.html === null) return request;
  const { html } = request.input;
  const base = trackingBase(app, message.sender_domain_id);
  const token = tokensOf(app, deliveryId);
  // The pixel comes first: tokens are cheapest in their order.
  const pixelUrl = message.track_opens === 1 ? `${base}/t/o/${token(pixel)}` : null;
  const linkUrl =
    message.track_clicks === 1 ? (link: number) => `${base}/t/c/${token(link)}` : null;
  return {
    ...request,
    input: { ...request.input, html: fillLinks(html, cuts, linkUrl, pixelUrl) },
  };
}

/** Returns the request with the fields of one recipient: the unsubscribe link of this copy. */
export function withFields(
  request: ComposeRequest,
  fields: readonly (readonly [string, string])[],
): ComposeRequest {
  if ('raw' in request.input || fields.length === 0) return request;
  return {
    ...request,
    input: { ...request.input, headers: [...request.input.headers, ...fields] },
  };
}

async function composeInput(
  app: App,
  { message, content, recipients }: MessageParts,
): Promise<ComposeInput> {
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
    html: content?.html ?? null,
    text: content?.text ?? null,
    attachments: await loadAttachments(app, content),
    headers: Object.entries(fromJson<Record<string, string>>(message.headers) ?? {}),
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
      const bytes = await findBlob(app.store.db, blobId);
      if (!bytes) throw new Error(`blob ${blobId} of content ${content?.id} is missing`);
      return { filename, contentType, contentId, content: bytes };
    }),
  );
}
