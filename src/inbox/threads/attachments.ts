// Files attached to a message in a mailbox, numbered from 1 in the order of the thread's message
// list.
import type { Caller, FileAnswer } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { readBlob } from '../../core/blobs/blobs.ts';
import { getMailboxRow } from '../../identity/mailboxes/mailbox-rows.ts';
import { findContents } from '../../outbound/messages/contents/content-queries.ts';
import { attachmentsOf, readProjection } from '../../outbound/messages/contents/projection.ts';
import type { StoredAttachment } from '../../outbound/messages/lists/email-projection.ts';
import { findMessageRow, type MessageRow } from '../../outbound/messages/queries.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import { fromJson } from '../../platform/store/db.ts';
import { findThread, findThreadMessages } from './queries.ts';

/**
 * Returns a message that is in a thread of the mailbox. @throws ResourceNotFoundError (mailbox,
 * message).
 */
export async function getMailboxMessage(
  { store: { db } }: App,
  organizationId: string,
  mailboxId: string,
  messageId: string,
): Promise<MessageRow> {
  await getMailboxRow(db, organizationId, mailboxId);
  const [placed] = await findThreadMessages(db, [messageId]);
  const thread = placed && (await findThread(db, placed.thread_id));
  const row = await findMessageRow(db, messageId);
  if (thread?.mailbox_id !== mailboxId || !row) {
    throw new ResourceNotFoundError('message', messageId);
  }
  return row;
}

async function sentFile(app: App, row: MessageRow, index: number) {
  const [content] = row.content_id ? await findContents(app.store.db, [row.content_id]) : [];
  const file = fromJson<StoredAttachment[]>(content?.attachments ?? null)?.[index];
  const bytes = file && (await readBlob(app, file.blobId));
  return bytes && { contentType: file.contentType, filename: file.filename, bytes };
}

/** Reads a file of received mail in the parse worker, as the bytes may be hostile. */
async function receivedFile(app: App, row: MessageRow, index: number) {
  const part = attachmentsOf(await readProjection(app, row))[index];
  const raw = row.raw_blob_id ? await readBlob(app, row.raw_blob_id) : undefined;
  const bytes =
    part && raw && (await app.mime.readAttachment(raw, part.partNumber, row.organization_id));
  return bytes && { contentType: part.contentType, filename: part.filename, bytes };
}

/**
 * Returns the bytes of an attachment.
 * @throws ResourceNotFoundError (mailbox, message, attachment); CapacityError if the parse worker
 * is full.
 */
export async function readMailboxAttachment(
  app: App,
  { organizationId }: Caller,
  { id, messageId, n }: { id: string; messageId: string; n: number },
): Promise<FileAnswer> {
  const row = await getMailboxMessage(app, organizationId, id, messageId);
  const file = await (row.content_id === null ? receivedFile : sentFile)(app, row, n - 1);
  if (!file) throw new ResourceNotFoundError('attachment', String(n));
  return file;
}
