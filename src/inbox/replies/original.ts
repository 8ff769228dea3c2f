// The content of a message to forward: the displayed text and the attachments.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { readBlob } from '../../core/blobs/blobs.ts';
import { isMediaType } from '../../mail/mime/media-type.ts';
import { findContents } from '../../outbound/messages/contents/content-queries.ts';
import { requireContent } from '../../outbound/messages/contents/content-removal.ts';
import { attachmentsOf, readProjection } from '../../outbound/messages/contents/projection.ts';
import {
  getEmailProjection,
  type StoredAttachment,
} from '../../outbound/messages/lists/email-projection.ts';
import type { MessageRow } from '../../outbound/messages/queries.ts';
import { ConflictError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { fromJson } from '../../platform/store/db.ts';
import type { Original } from './forwarded.ts';
import { shownAddress } from './mail.ts';
import type { Attachment } from './schema.ts';

/** A file as the mail describes it. */
interface File {
  filename: string | null;
  contentType: string;
  contentId: string | null;
  data: Uint8Array;
}

/**
 * Returns the file as an attachment. The received mail chose the name, so unsafe header characters
 * are removed.
 */
function attachmentOf({ filename, contentType, contentId, data }: File, index: number): Attachment {
  const name = (filename ?? '').replace(/\p{Cc}/gu, '').slice(0, 255);
  const isKept = isMediaType(contentType) && !/^(?:multipart|message)\//i.test(contentType);
  const id = contentId?.replace(/^<|>$/g, '') ?? '';
  return {
    filename: name === '' ? `attachment-${index + 1}` : name,
    content: Buffer.from(data).toString('base64'),
    contentType: isKept ? contentType : 'application/octet-stream',
    ...(/^[\w.@+-]{1,255}$/.test(id) && { contentId: id }),
  };
}

export async function sentFiles(app: App, row: MessageRow): Promise<File[]> {
  const [content] = row.content_id ? await findContents(app.store.db, [row.content_id]) : [];
  const files: File[] = [];
  for (const file of fromJson<StoredAttachment[]>(content?.attachments ?? null) ?? []) {
    const data = await readBlob(app, file.blobId);
    if (data) files.push({ ...file, data });
  }
  return files;
}

async function receivedFiles(app: App, row: MessageRow): Promise<File[]> {
  const described = attachmentsOf(await readProjection(app, row));
  if (described.length === 0 || row.raw_blob_id === null) return [];
  const raw = await readBlob(app, row.raw_blob_id);
  if (!raw) return [];
  const files: File[] = [];
  for (const { partNumber, ...file } of described) {
    const data = await app.mime.readAttachment(raw, partNumber, row.organization_id);
    if (!data) throw new ConflictError('message', `${file.filename ?? 'A file'} cannot be read`);
    files.push({ ...file, data });
  }
  return files;
}

/**
 * Reads a message to forward.
 * @throws ConflictError if the content was removed, or the attachments cannot be read;
 * CapacityError if the parse worker is full.
 */
export async function originalOf(
  app: App,
  caller: Caller,
  row: MessageRow,
): Promise<Original & { attachments: Attachment[] }> {
  requireContent(row);
  const shown = await getEmailProjection(app, caller, row.id, {});
  const files = await (row.content_id === null ? receivedFiles : sentFiles)(app, row);
  return {
    from: shownAddress({ email: row.from_email, name: row.from_name }),
    date: isoTime(row.created_at),
    subject: row.subject,
    to: shown.toEmails,
    cc: shown.ccEmails ?? [],
    text: shown.text ?? null,
    html: shown.html ?? null,
    attachments: files.map(attachmentOf),
  };
}
