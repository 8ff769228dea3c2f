// The file behind a signed storage URL: the raw MIME of a message (as received, or as sent to a
// recipient), the HTML or the text.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { readBlob } from '../../core/blobs/blobs.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import { fromJson } from '../../platform/store/db.ts';
import { findDeliveries } from '../deliveries/queries.ts';
import { findContents } from '../messages/contents/content-queries.ts';
import { requireContent } from '../messages/contents/content-removal.ts';
import { readContent } from '../messages/contents/merge.ts';
import { attachmentsOf, readProjection } from '../messages/contents/projection.ts';
import { readStorageToken } from '../messages/contents/storage-urls.ts';
import { deliveryTo } from '../messages/delivery-to.ts';
import type { StoredAttachment } from '../messages/lists/email-projection.ts';
import { getMessageRow } from '../messages/messages.ts';
import { findMessageRow, type MessageRow } from '../messages/queries.ts';
import { type SentCopy, sentCopy } from './sent-copy.ts';

export interface StoredPart {
  contentType: 'message/rfc822' | 'text/html; charset=utf-8' | 'text/plain; charset=utf-8';
  filename: string;
  body: Buffer;
  /** Whether this service sent the message: only then may the page with the part load images. */
  isOurs: boolean;
}

/**
 * Reads the part that a token names.
 * @throws ResourceNotFoundError for a forged or expired token, or a deleted message.
 */
export async function readStoredPart(app: App, token: string): Promise<StoredPart> {
  const { messageId, part, deliveryId } = readStorageToken(app, token);
  const row = await findMessageRow(app.store.db, messageId);
  if (!row) throw new ResourceNotFoundError('message', messageId);
  const isOurs = row.direction === 'outbound';
  if (part === 'raw') {
    const { body } = await rawMime(app, row, deliveryId);
    return { contentType: 'message/rfc822', filename: `${row.id}.eml`, body, isOurs };
  }
  const text = await textPart(app, row, part);
  if (text === null) throw new ResourceNotFoundError('message', messageId);
  return {
    contentType: part === 'html' ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8',
    filename: `${row.id}.${part === 'html' ? 'html' : 'txt'}`,
    body: Buffer.from(text),
    isOurs,
  };
}

/**
 * The raw mail of a message: only `body` if it was received, all fields of a copy if it was sent.
 */
export type RawMail = Pick<SentCopy, 'body'> & Partial<SentCopy>;

/**
 * Returns the raw mail of a message: as received, or as sent to `recipient`, by default the first.
 * @throws ResourceNotFoundError for a missing message or recipient.
 */
export async function readRawMail(
  app: App,
  caller: Caller,
  id: string,
  recipient?: string,
): Promise<RawMail> {
  const row = await getMessageRow(app.store.db, caller.organizationId, id);
  const deliveries = recipient === undefined ? [] : await findDeliveries(app.store.db, [id]);
  return rawMime(app, row, recipient === undefined ? null : deliveryTo(deliveries, recipient).id);
}

/**
 * Returns the bytes of the attachment `number`, counted from 1. Parses received mail again on this
 * thread, so only commands use it.
 * @throws ResourceNotFoundError for a missing message or attachment.
 */
export async function readAttachment(
  app: App,
  caller: Caller,
  id: string,
  number: number,
): Promise<Buffer> {
  const row = await getMessageRow(app.store.db, caller.organizationId, id);
  const bytes = await (row.direction === 'inbound' ? receivedFile : sentFile)(app, row, number - 1);
  if (!bytes) throw new ResourceNotFoundError('attachment', `${id} ${number}`);
  return bytes;
}

async function sentFile(app: App, row: MessageRow, index: number) {
  const [content] = row.content_id ? await findContents(app.store.db, [row.content_id]) : [];
  const file = fromJson<StoredAttachment[]>(content?.attachments ?? null)?.[index];
  return file && readBlob(app, file.blobId);
}

async function receivedFile(app: App, row: MessageRow, index: number) {
  const part = attachmentsOf(await readProjection(app, row))[index];
  if (!part) return undefined;
  const { readAttachmentBytes } = await import('../../mail/parse/attachment-bytes.ts');
  const raw = await receivedMail(app, row);
  return readAttachmentBytes(raw, part.partNumber, Number.MAX_SAFE_INTEGER);
}

async function rawMime(app: App, row: MessageRow, deliveryId: string | null): Promise<RawMail> {
  requireContent(row);
  if (row.direction === 'outbound') return sentCopy(app, row, deliveryId);
  return { body: await receivedMail(app, row) };
}

async function receivedMail(app: App, row: MessageRow): Promise<Buffer> {
  const raw = row.raw_blob_id ? await readBlob(app, row.raw_blob_id) : undefined;
  if (!raw) throw new ResourceNotFoundError('message', row.id);
  return raw;
}

async function textPart(app: App, row: MessageRow, part: 'html' | 'text'): Promise<string | null> {
  if (row.content_id !== null) {
    return (await readContent(app, row))?.[part] ?? null;
  }
  return (await readProjection(app, row))[part];
}
