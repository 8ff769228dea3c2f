// Removes the content of an ended message and leaves the rest: recipients, deliveries, timeline, subject and counts. A
// message without content shows none, and cannot be sent again.
import type { App } from '../../core/app.ts';
import { ConflictError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { overwriting } from '../../platform/store/overwriting.ts';
import { deleteBlob, deleteUnusedContent } from './content-queries.ts';
import { deleteMessageValues } from './merge-queries.ts';
import { emptyProjection } from './projection-queries.ts';
import { findMessageRow, lockMessages, type MessageRow } from './queries.ts';
import { dropContent, isEnded } from './retention-queries.ts';

/** Removes the content of a message. Returns false for one without content, or that has not ended. */
export function removeContent(app: App, trx: Db, id: string): Promise<boolean> {
  return overwriting(trx, () => removeParts(app, trx, id));
}

async function removeParts(app: App, trx: Db, id: string): Promise<boolean> {
  await lockMessages(trx, [id]);
  const row = await findMessageRow(trx, id);
  if (!row || !isEnded(row.status) || !hasContent(row)) return false;
  await dropContent(trx, id);
  if (row.content_id !== null) await deleteUnusedContent(trx, row.content_id);
  if (row.raw_blob_id !== null) await deleteBlob(trx, row.raw_blob_id);
  await deleteMessageValues(trx, id);
  await emptyProjection(trx, id, app.clock.now());
  await app.hooks.threads.forgetText(app, trx, id);
  return true;
}

/** Tells whether a message still has its content. */
export function hasContent({
  content_id: contentId,
  raw_blob_id: blobId,
}: Pick<MessageRow, 'content_id' | 'raw_blob_id'>): boolean {
  return contentId !== null || blobId !== null;
}

/** @throws ConflictError for a message whose content was removed */
export function requireContent(row: Pick<MessageRow, 'id' | 'content_id' | 'raw_blob_id'>): void {
  if (hasContent(row)) return;
  throw new ConflictError(
    'message',
    `${row.id} has no content any more: retention.contentDays removed it`,
  );
}
