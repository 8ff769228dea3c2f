// Scheduled changes of threads: ends snoozes, and removes the content of mailboxes after their
// deletion. Each thread has a separate transaction, so that a long thread does not delay the rest.
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import { requestErasure } from '../../history/erasures/request.ts';
import {
  emptyMailbox,
  findDeletedMailboxes,
  lockMailboxes,
} from '../../identity/mailboxes/queries.ts';
import { removeMessage } from '../../outbound/messages/messages.ts';
import { findMailboxMessages } from '../../outbound/messages/queries.ts';
import type { Db } from '../../platform/store/db.ts';
import { deleteDraftsOf } from './drafts/draft-queries.ts';
import type { Folder } from './folders.ts';
import {
  findThread,
  findThreadsOf,
  findThreadsToWake,
  type ThreadRow,
  updateThread,
} from './queries.ts';
import { holdMessages, removeMessages } from './remove.ts';

const atOnce = 200;
/** Time for which a deleted mailbox keeps the content. */
const keptMs = 30 * 86_400_000;

type DeletedMailbox = Awaited<ReturnType<typeof findDeletedMailboxes>>[number];

const putAway: readonly Folder[] = ['spam', 'trash'];

async function wake(trx: Db, { id, mailbox_id }: ThreadRow, now: number): Promise<boolean> {
  await lockMailboxes(trx, [mailbox_id]);
  const row = await findThread(trx, id);
  if (!row || row.snoozed_until === null || row.snoozed_until > now) return false;
  const ends = { snoozed_until: null, updated_at: now };
  const back = putAway.includes(row.folder) ? {} : { folder: 'inbox' as const, is_read: 0 };
  await updateThread(trx, id, { ...ends, ...back });
  return true;
}

/** Ends due snoozes: the threads move to `inbox` as unread, but stay in spam or trash. */
export async function wakeThreads(app: App): Promise<number> {
  const { clock, store } = app;
  let woken = 0;
  for (;;) {
    const due = await findThreadsToWake(store.db, clock.now(), atOnce);
    for (const row of due) {
      if (await store.write((trx) => wake(trx, row, clock.now()))) woken += 1;
    }
    if (due.length < atOnce) return woken;
  }
}

async function removeInParts(app: App, mailboxId: string, id: string): Promise<void> {
  let isGone = false;
  while (!isGone) {
    isGone = await app.store.write(async (trx) => {
      const ids = await holdMessages(trx, id);
      await lockMailboxes(trx, [mailboxId]);
      return removeMessages(app, trx, id, ids);
    }, 'quiet');
  }
}

/** Removes messages of a deleted mailbox that have no thread. */
async function removeStrays(app: App, mailboxId: string): Promise<void> {
  const { store } = app;
  for (;;) {
    const ids = await findMailboxMessages(store.db, mailboxId, atOnce);
    for (const id of ids) await store.write((trx) => removeMessage(app, trx, id), 'quiet');
    if (ids.length < atOnce) return;
  }
}

/** Empties a deleted mailbox after the deletion of all threads. The row and the id stay. */
async function endMailbox(app: App, { id, organization_id }: DeletedMailbox): Promise<void> {
  await removeStrays(app, id);
  await app.store.write(async (trx) => {
    await lockMailboxes(trx, [id]);
    await deleteDraftsOf(trx, id);
    await emptyMailbox(trx, id, app.clock.now());
    await requestErasure(app, trx, { organizationId: organization_id, id, kind: 'mailbox' });
  }, 'quiet');
}

/**
 * Removes mailboxes that were deleted more than 30 days ago, with their threads. Returns the count
 * of threads.
 */
export async function sweepThreads(app: App): Promise<number> {
  const { store } = app;
  const before = await timeOfAge(app, keptMs);
  let gone = 0;
  for (const mailbox of await findDeletedMailboxes(store.db, before)) {
    const mailboxId = mailbox.id;
    for (;;) {
      const rows = await findThreadsOf(store.db, mailboxId, atOnce);
      for (const { id } of rows) {
        await removeInParts(app, mailboxId, id);
        gone += 1;
      }
      if (rows.length < atOnce) break;
    }
    await endMailbox(app, mailbox);
  }
  return gone;
}
