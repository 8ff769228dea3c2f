// The files behind a signed storage URL: the raw MIME of a message (as received, or composed and signed as it
// was sent), its HTML or its text.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { composeHere } from '../../mail/mime/composer.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import { fromJson } from '../../platform/store/db.ts';
import { findBlob, findContents } from '../messages/content-queries.ts';
import type { StoredAttachment } from '../messages/email-projection.ts';
import { getMessageRow } from '../messages/messages.ts';
import { attachmentsOf, readProjection } from '../messages/projection.ts';
import { findMessageRow, findRecipients, type MessageRow } from '../messages/queries.ts';
import { readStorageToken } from '../messages/storage-urls.ts';
import { composeRequestOf } from '../queue/carrier/request.ts';

export interface StoredPart {
  contentType: 'message/rfc822' | 'text/html; charset=utf-8' | 'text/plain; charset=utf-8';
  filename: string;
  body: Buffer;
}

/**
 * Reads the part that a token names.
 * @throws ResourceNotFoundError for a forged or expired token, or a deleted message.
 */
export async function readStoredPart(app: App, token: string): Promise<StoredPart> {
  const { messageId, part } = readStorageToken(app, token);
  const row = await findMessageRow(app.store.db, messageId);
  if (!row) throw new ResourceNotFoundError('message', messageId);
  if (part === 'raw') {
    const body = await rawMime(app, row);
    return { contentType: 'message/rfc822', filename: `${row.id}.eml`, body };
  }
  const text = await textPart(app, row, part);
  if (text === null) throw new ResourceNotFoundError('message', messageId);
  return {
    contentType: part === 'html' ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8',
    filename: `${row.id}.${part === 'html' ? 'html' : 'txt'}`,
    body: Buffer.from(text),
  };
}

/** Returns the raw mail of a message. @throws ResourceNotFoundError */
export async function readRawMail(app: App, caller: Caller, id: string): Promise<Buffer> {
  return rawMime(app, await getMessageRow(app.store.db, caller.organizationId, id));
}

/**
 * Returns the bytes of an attachment, counted from 1 in the order of the email projection. Received mail is
 * parsed once more in this thread, so this is for commands.
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

async function sentFile({ store }: App, row: MessageRow, index: number) {
  const [content] = row.content_id ? await findContents(store.db, [row.content_id]) : [];
  const file = fromJson<StoredAttachment[]>(content?.attachments ?? null)?.[index];
  return file && findBlob(store.db, file.blobId);
}

async function receivedFile(app: App, row: MessageRow, index: number) {
  const part = attachmentsOf(await readProjection(app, row))[index];
  if (!part) return undefined;
  const { readAttachmentBytes } = await import('../../mail/mime/parse/attachment-bytes.ts');
  return readAttachmentBytes(await rawMime(app, row), part.partNumber, Number.MAX_SAFE_INTEGER);
}

async function rawMime(app: App, row: MessageRow): Promise<Buffer> {
  const { db } = app.store;
  if (row.direction === 'inbound') {
    const raw = row.raw_blob_id ? await findBlob(db, row.raw_blob_id) : undefined;
    if (!raw) throw new ResourceNotFoundError('message', row.id);
    return raw;
  }
  const [content = null] = row.content_id ? await findContents(db, [row.content_id]) : [];
  const recipients = await findRecipients(db, [row.id]);
  const request = await composeRequestOf(app, { message: row, content, recipients });
  const { data } = await composeHere(request);
  return Buffer.concat(data);
}

async function textPart(app: App, row: MessageRow, part: 'html' | 'text'): Promise<string | null> {
  if (row.content_id !== null) {
    const [content] = await findContents(app.store.db, [row.content_id]);
    return content?.[part] ?? null;
  }
  return (await readProjection(app, row))[part];
}
