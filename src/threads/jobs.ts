// What happens to threads by the clock: a snooze ends, and what is left of a deleted mailbox goes. Each
// thread is a transaction of its own, so that neither holds up others.
import type { App } from '../app.ts';
import { findDeletedMailboxes, lockMailboxes } from '../mailboxes/queries.ts';
import type { Db } from '../store/db.ts';
import {
  type Folder,
  findThread,
  findThreadsOf,
  findThreadsToWake,
  type ThreadRow,
  updateThread,
} from './queries.ts';
import { holdMessages, removeMessages } from './remove.ts';

const atOnce = 200;
/** What a deleted mailbox had is kept so long. */
const keptMs = 30 * 86_400_000;

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

/** Threads whose snooze is over are unread in `inbox`; returns how many those were. */
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

/** Takes away the threads of mailboxes that were deleted long enough ago; returns how many. */
export async function sweepThreads(app: App): Promise<number> {
  const { clock, store } = app;
  let gone = 0;
  for (const mailboxId of await findDeletedMailboxes(store.db, clock.now() - keptMs)) {
    for (;;) {
      const rows = await findThreadsOf(store.db, mailboxId, atOnce);
      for (const { id } of rows) {
        await removeInParts(app, mailboxId, id);
        gone += 1;
      }
      if (rows.length < atOnce) break;
    }
  }
  return gone;
}
