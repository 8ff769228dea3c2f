// Limits the number and the bytes of the drafts in a mailbox. Delayed mails count too, as an undo
// makes drafts of them.
import type { App } from '../../core/app.ts';
import { ConflictError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { measureDelayed } from '../threads/drafts/delayed-queries.ts';
import { type DraftRow, measureDrafts } from '../threads/drafts/draft-queries.ts';

const mostDrafts = 1_000;
const mostDraftBytes = 1024 ** 3;
/** Time after which a delayed mail can no longer be undone: twice the longest delay. */
const longestDelayMs = 2 * 60_000;

/** The columns of a draft that a caller sets. */
export type Given = Pick<DraftRow, 'recipients' | 'subject' | 'text' | 'html'>;

/** Returns the bytes of a draft with files of `fileBytes`. */
export function bytesOf({ recipients, subject, text, html }: Given, fileBytes: number): number {
  return [recipients, subject, text, html].reduce(
    (sum, part) => sum + Buffer.byteLength(part ?? ''),
    fileBytes,
  );
}

/**
 * Refuses a draft, or a delayed mail, if the mailbox is full. The caller has locked the mailbox.
 * @throws ConflictError
 */
export async function requireRoom(
  app: App,
  trx: Db,
  mailboxId: string,
  more: { count: number; bytes: number },
): Promise<void> {
  const drafts = await measureDrafts(trx, mailboxId);
  const delayed = await measureDelayed(trx, mailboxId, app.clock.now() - longestDelayMs);
  const advice = 'send or delete some';
  if (drafts.count + delayed.count + more.count > mostDrafts) {
    throw new ConflictError(
      'draft',
      `The mailbox already has ${mostDrafts} drafts, the limit: ${advice}`,
    );
  }
  if (drafts.bytes + delayed.bytes + more.bytes > mostDraftBytes) {
    throw new ConflictError('draft', `The drafts of the mailbox would exceed 1 GB: ${advice}`);
  }
}
