// Two threads of a mailbox become one, as a message shows that they are. The one that began first stays;
// what people said of the other comes with it.
import { moveActionsOfThread } from '../mailbox-actions/copy-queries.ts';
import type { Db } from '../store/db.ts';
import { copyLabels } from './label-queries.ts';
import { moveNotes } from './note-queries.ts';
import {
  deleteThread,
  type Folder,
  findThread,
  moveDrafts,
  moveThreadMessages,
  type ThreadRow,
} from './queries.ts';
import { moveReferences } from './reference-queries.ts';
import { restateThread } from './restate.ts';

/** Of two folders the first in this order is the one of both. */
const order: readonly Folder[] = ['inbox', 'archive', 'sent', 'drafts', 'trash', 'spam'];

function sooner(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** What no message decides. */
function together(one: ThreadRow, other: ThreadRow) {
  return {
    folder: order.find((name) => name === one.folder || name === other.folder) ?? one.folder,
    is_read: Math.min(one.is_read, other.is_read),
    is_starred: Math.max(one.is_starred, other.is_starred),
    snoozed_until: sooner(one.snoozed_until, other.snoozed_until),
    last_activity_at: Math.max(one.last_activity_at, other.last_activity_at),
  };
}

/** All that `goneId` has belongs to `id`, and `goneId` is no more. */
export async function mergeThreads(
  trx: Db,
  id: string,
  goneId: string,
  now: number,
): Promise<void> {
  const [stays, goes] = [await findThread(trx, id), await findThread(trx, goneId)];
  if (!stays || !goes) return;
  await moveThreadMessages(trx, goneId, id);
  await moveReferences(trx, goneId, id);
  await copyLabels(trx, goneId, id);
  await moveNotes(trx, goneId, id);
  await moveDrafts(trx, goneId, id);
  await moveActionsOfThread(trx, goneId, id);
  await deleteThread(trx, goneId);
  await restateThread(trx, id, now, together(stays, goes));
}
