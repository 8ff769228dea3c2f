// Removes the content of an ended message. Recipients, deliveries, timeline, subject and counts
// stay. Such a message shows no content, and cannot be sent again.
import type { App } from '../../../core/app.ts';
import { deleteBlobs } from '../../../core/blobs/queries.ts';
import { ConflictError } from '../../../platform/errors.ts';
import type { Db } from '../../../platform/store/db.ts';
import { overwriting } from '../../../platform/store/rows/overwriting.ts';
import { dropContent, isEnded } from '../forget/retention-queries.ts';
import { findMessageRow, lockMessages, type MessageRow } from '../queries.ts';
import { deleteUnusedContent } from './content-queries.ts';
import { deleteMessageValues } from './merge-queries.ts';
import { emptyProjection } from './projection-queries.ts';

/**
 * Keeps the targets of tracked links when the content of a message is removed, because recipients
 * still click these links.
 */
export interface LinkKeeper {
  /** Reads the targets in content that is filled for a message, before the transaction. */
  read(app: App, messageId: string): Promise<readonly string[]>;
  /**
   * Stores the targets. Returns the id of a content with only targets, or null without a tracked
   * link.
   */
  keep(app: App, trx: Db, row: MessageRow, urls: readonly string[]): Promise<string | null>;
}

/** Prefix of contents that have only the targets of links. */
export const linksPrefix = 'lnk_';

/**
 * Removes the content of a message, except for the targets of tracked links. `urls` is the answer
 * of `read`. Returns false if the message has no content, or has not ended.
 */
export function removeContent(
  app: App,
  trx: Db,
  id: string,
  { keeper, urls }: { keeper: LinkKeeper; urls: readonly string[] },
): Promise<boolean> {
  return overwriting(trx, async () => {
    await lockMessages(trx, [id]);
    const row = await findMessageRow(trx, id);
    if (!row || !isEnded(row.status) || !hasContent(row)) return false;
    await removeParts(app, trx, row, await keeper.keep(app, trx, row, urls));
    return true;
  });
}

async function removeParts(
  app: App,
  trx: Db,
  row: MessageRow,
  linksId: string | null,
): Promise<void> {
  const { id } = row;
  await dropContent(trx, id, linksId);
  if (row.content_id !== null) await deleteUnusedContent(trx, row.content_id);
  if (row.raw_blob_id !== null) await deleteBlobs(trx, [row.raw_blob_id]);
  await deleteMessageValues(trx, id);
  await emptyProjection(trx, id, app.clock.now());
  await app.hooks.threads.forgetText(app, trx, id);
}

/** Tells whether a message still has content. Kept link targets are no content. */
export function hasContent({
  content_id: contentId,
  raw_blob_id: blobId,
}: Pick<MessageRow, 'content_id' | 'raw_blob_id'>): boolean {
  const isLinks = contentId?.startsWith(linksPrefix) ?? true;
  return !isLinks || blobId !== null;
}

/** @throws ConflictError for a message with removed content */
export function requireContent(row: Pick<MessageRow, 'id' | 'content_id' | 'raw_blob_id'>): void {
  if (hasContent(row)) return;
  throw new ConflictError(
    'message',
    `${row.id} has no content any more: retention.contentDays removed it`,
  );
}
