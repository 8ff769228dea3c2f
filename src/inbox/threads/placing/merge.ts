// Merges two threads of a mailbox when a message shows that they belong together. The older thread
// stays and gets the labels, notes and states of the newer thread.

import type { Db } from '../../../platform/store/db.ts';
import { moveActionsOfThread } from '../../approvals/copy-queries.ts';
import type { Folder } from '../folders.ts';
import { copyLabels } from '../marks/label-queries.ts';
import { moveNotes } from '../marks/note-queries.ts';
import {
  deleteThread,
  findThread,
  moveDrafts,
  moveThreadMessages,
  type ThreadRow,
} from '../queries.ts';
import { restateThread } from '../restate.ts';
import { moveReferences } from './reference-queries.ts';

/** Order of preference for the folder of a merged thread. */
const order: readonly Folder[] = ['inbox', 'archive', 'sent', 'drafts', 'trash', 'spam'];

function sooner(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

/** Merges the fields that do not follow from messages. */
function together(one: ThreadRow, other: ThreadRow) {
  return {
    folder: order.find((name) => name === one.folder || name === other.folder) ?? one.folder,
    is_read: Math.min(one.is_read, other.is_read),
    is_starred: Math.max(one.is_starred, other.is_starred),
    snoozed_until: sooner(one.snoozed_until, other.snoozed_until),
    last_activity_at: Math.max(one.last_activity_at, other.last_activity_at),
  };
}

/** Moves everything from thread `goneId` to `id` and deletes `goneId`. */
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
