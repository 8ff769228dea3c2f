// Threads of a mailbox (specification 4.4): read, list, change, delete. take-in.ts and sent.ts add
// mail to threads; docs/making/states.md shows the moves between folders.

import { refusedPermission } from '../../access/keys/constraints.ts';
import { type CursorPage, cursorAfter, readCursor } from '../../core/api/cursor.ts';
import { searchInTime } from '../../core/api/filtered-page.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { changesOf, type Details } from '../../history/audit/audit.ts';
import { record } from '../../history/events/record.ts';
import { reachOf } from '../../identity/mailboxes/bound-keys.ts';
import { getMailboxRow } from '../../identity/mailboxes/mailbox-rows.ts';
import { lockMailboxes } from '../../identity/mailboxes/queries.ts';
import { ResourceNotFoundError, ValidationError } from '../../platform/errors.ts';
import { parseQuery } from '../../platform/full-text/query.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { foldCase } from '../../platform/runtime/fold-case.ts';
import type { Db } from '../../platform/store/db.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { storeAction } from '../approvals/actions.ts';
import { listedFolders, unlistedFolders } from './folders.ts';
import { indexWaiting } from './indexer.ts';
import { listThreadIds, selectUnread, type ThreadFilter } from './list-queries.ts';
import { findLabels } from './marks/label-queries.ts';
import {
  findDrafted,
  findThread,
  findThreads,
  type ThreadChange,
  type ThreadRow,
  threads,
} from './queries.ts';
import { holdMessages, removeMessages } from './remove.ts';
import type { ListThreads, Thread, ThreadStanding, UpdateThread } from './schema.ts';
import { pageOfListed, searchThreads } from './search.ts';

/** Returns a thread of an existing mailbox. @throws ResourceNotFoundError (mailbox, thread). */
export async function getThreadRow(
  db: Db,
  organizationId: string,
  mailboxId: string,
  id: string,
): Promise<ThreadRow> {
  await getMailboxRow(db, organizationId, mailboxId);
  const row = await findThread(db, id);
  if (row?.mailbox_id !== mailboxId) throw new ResourceNotFoundError('thread', id);
  return row;
}

/** Locks the mailbox until the transaction ends, and returns the row. @throws like getThreadRow. */
export async function holdThread(
  trx: Db,
  organizationId: string,
  mailboxId: string,
  id: string,
): Promise<ThreadRow> {
  await lockMailboxes(trx, [mailboxId]);
  return getThreadRow(trx, organizationId, mailboxId, id);
}

/** Returns the folder, priority, labels and flags of a thread, in the form of the API. */
export function toStanding(row: ThreadRow, labels: readonly string[]): ThreadStanding {
  return {
    id: row.id,
    folder: row.folder,
    priority: row.priority,
    labels: [...labels],
    read: row.is_read === 1,
    starred: row.is_starred === 1,
    snoozedUntil: isoTime(row.snoozed_until),
  };
}

function toThread(row: ThreadRow, labels: readonly string[], hasDraft: boolean): Thread {
  const { from_address: address } = row;
  return {
    ...toStanding(row, labels),
    subject: row.subject,
    preview: row.preview,
    from: address === null ? null : { address, displayName: row.from_name },
    messageCount: row.message_count,
    hasAttachments: row.attachment_count > 0,
    hasDraft,
    lastActivityAt: isoTime(row.last_activity_at),
  };
}

/** Presents threads in the order of the ids. Leaves out deleted threads. */
async function presentThreads(db: Db, ids: readonly string[]): Promise<Thread[]> {
  if (ids.length === 0) return [];
  const rows = new Map((await findThreads(db, ids)).map((row) => [row.id, row]));
  const labels = Map.groupBy(await findLabels(db, ids), ({ thread_id }) => thread_id);
  const drafted = await findDrafted(db, ids);
  return ids.flatMap((id) => {
    const row = rows.get(id);
    const own = (labels.get(id) ?? []).map(({ label }) => label);
    return row ? toThread(row, own, drafted.has(id)) : [];
  });
}

/** Returns a thread. @throws ResourceNotFoundError. */
export async function getThread(
  app: App,
  { organizationId }: Caller,
  mailboxId: string,
  id: string,
): Promise<Thread> {
  const { db } = app.store;
  await getThreadRow(db, organizationId, mailboxId, id);
  const [thread] = await presentThreads(db, [id]);
  if (!thread) throw new ResourceNotFoundError('thread', id);
  return thread;
}

/** Trims a label and folds the case, for comparison. */
export function foldLabel(label: string): string {
  return foldCase(label.trim().normalize('NFC'));
}

function filterOf(app: App, mailboxId: string, query: ListThreads): ThreadFilter {
  const { folder, label, unread, starred, snoozed } = query;
  return {
    mailboxId,
    folders: folder ? [folder] : listedFolders,
    label: label === undefined ? undefined : foldLabel(label),
    unread,
    starred,
    snoozed,
    ...boundsOf(query),
    now: app.clock.now(),
  };
}

/** Most unread threads of a mailbox that are counted. */
const mostCounted = 100;

/**
 * Counts the unread threads in the inboxes of mailboxes that the caller may read, up to 100 each.
 * Leaves out mailboxes without unread threads.
 * @throws ForbiddenError
 */
export async function unreadOf(
  app: App,
  caller: Caller,
  mailboxIds: readonly string[],
): Promise<{ id: string; unread: number }[]> {
  const refused = refusedPermission(caller, 'mailboxes:read');
  if (refused) throw refused;
  const { organizationId } = caller;
  const reach = reachOf(app, caller);
  const options = { organizationId, reach, now: app.clock.now(), most: mostCounted };
  const found = await selectUnread(app.store.db, mailboxIds, options);
  return [...Map.groupBy(found, (id) => id)].map(([id, { length }]) => ({ id, unread: length }));
}

/**
 * Returns a page of threads, most recent activity first. A thread with new activity moves ahead of
 * the cursor, and activity never decreases: a walk through the pages lists a thread at most once.
 * @throws ResourceNotFoundError (mailbox), ValidationError (cursor, q).
 */
export async function listThreads(
  app: App,
  { organizationId }: Caller,
  mailboxId: string,
  { limit, cursor, ...query }: ListThreads,
): Promise<CursorPage<Thread>> {
  const { db } = app.store;
  await getMailboxRow(db, organizationId, mailboxId);
  const { folder, label, unread, starred, snoozed, q } = query;
  const { from, to } = boundsOf(query);
  const scope = ['threads', mailboxId, folder, label, unread, starred, snoozed, from, to, q];
  const place = cursor === undefined ? null : readCursor(scope, cursor);
  const filter = filterOf(app, mailboxId, { limit, ...query });
  if (q !== undefined) await indexWaiting(app);
  const { shown, next } =
    q === undefined
      ? pageOfListed(await listThreadIds(db, filter, place, limit + 1), limit)
      : await searchInTime(app.store, organizationId, 'q', (aside) =>
          searchThreads(aside, filter, parseQuery(q), place, limit),
        );
  const ids = shown.map(({ id }) => id);
  const items = await presentThreads(db, ids);
  return { items, nextCursor: next && cursorAfter(scope, next) };
}

function changeOf(app: App, row: ThreadRow, wanted: UpdateThread): ThreadChange {
  const { read, starred, folder, priority, snoozedUntil } = wanted;
  if (typeof snoozedUntil === 'number' && snoozedUntil <= app.clock.now()) {
    throw ValidationError.of('snoozedUntil', 'must be in the future');
  }
  const isAway = unlistedFolders.includes(folder ?? row.folder);
  return {
    ...(read !== undefined && { is_read: Number(read) }),
    ...(starred !== undefined && { is_starred: Number(starred) }),
    ...(folder !== undefined && { folder }),
    ...(priority !== undefined && { priority }),
    ...(snoozedUntil !== undefined && { snoozed_until: snoozedUntil }),
    // Clears the snooze: a thread in spam or trash must not return when the snooze ends.
    ...(isAway && { snoozed_until: null }),
  };
}

/** Records a move or a snooze as an action of the caller in the mailbox; not for the operator. */
async function moveAction(
  app: App,
  trx: Db,
  caller: Caller,
  { id, mailbox_id }: ThreadRow,
  { folder, snoozedUntil }: Details,
): Promise<void> {
  if (folder === undefined && snoozedUntil === undefined) return;
  const summary = {
    ...(folder !== undefined && { folder }),
    ...(snoozedUntil !== undefined && { snoozedUntil }),
  };
  const about = { mailboxId: mailbox_id, type: 'move', messageId: null, threadId: id } as const;
  await storeAction(app, trx, caller, { ...about, summary });
}

/** Changes a locked thread, and audits a real change. Returns the thread in the form of the API. */
async function changeThread(
  app: App,
  trx: Db,
  caller: Caller,
  row: ThreadRow,
  change: ThreadChange,
): Promise<Thread> {
  const { id } = row;
  const [before] = await presentThreads(trx, [id]);
  const updated_at = app.clock.now();
  await threads.update(trx, caller.organizationId, id, { ...change, updated_at });
  const [after] = await presentThreads(trx, [id]);
  if (!before || !after) throw new ResourceNotFoundError('thread', id);
  const details = changesOf(before, after);
  if (Object.keys(details).length > 0) {
    await record(app, trx, caller, { subject: id, action: 'thread.updated', details });
    await moveAction(app, trx, caller, row, details);
  }
  return after;
}

/** Changes the given fields. @throws ResourceNotFoundError, ValidationError (snoozedUntil). */
export async function updateThread(
  app: App,
  caller: Caller,
  mailboxId: string,
  id: string,
  wanted: UpdateThread,
): Promise<Thread> {
  return app.store.write(async (trx) => {
    const row = await holdThread(trx, caller.organizationId, mailboxId, id);
    return changeThread(app, trx, caller, row, changeOf(app, row, wanted));
  });
}

/** Result of a single transaction of a deletion. */
interface Removal {
  state: 'moved' | 'begun' | 'gone';
  /** Number of messages that this transaction removed. */
  messages: number;
}

/**
 * Moves a thread to `trash`. If the thread is already there, removes the next messages, and at the
 * end the thread. `before`: number of messages removed by earlier transactions.
 */
function removeSome(
  app: App,
  caller: Caller,
  { mailboxId, id, before }: { mailboxId: string; id: string; before: number },
): Promise<Removal> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    // Reads the thread before locking it, because messages are locked before the mailbox.
    const seen = await getThreadRow(trx, organizationId, mailboxId, id);
    const ids = seen.folder === 'trash' ? await holdMessages(trx, id) : [];
    const row = await holdThread(trx, organizationId, mailboxId, id);
    if (row.folder !== 'trash') {
      await changeThread(app, trx, caller, row, { folder: 'trash', snoozed_until: null });
      return { state: 'moved', messages: 0 };
    }
    const isGone = await removeMessages(app, trx, id, ids);
    if (!isGone) return { state: 'begun', messages: ids.length };
    const details = { mailboxId, messages: before + ids.length };
    await record(app, trx, caller, { subject: id, action: 'thread.deleted', details });
    await moveAction(app, trx, caller, row, { folder: { before: row.folder, after: null } });
    return { state: 'gone', messages: ids.length };
  });
}

/**
 * Moves a thread to `trash`, or deletes a thread in `trash` with all messages. A repeated request
 * finishes a deletion that was interrupted.
 * @throws ResourceNotFoundError.
 */
export async function deleteThread(
  app: App,
  caller: Caller,
  mailboxId: string,
  id: string,
): Promise<Deleted> {
  let messages = 0;
  for (;;) {
    const removal = await removeSome(app, caller, { mailboxId, id, before: messages });
    messages += removal.messages;
    if (removal.state === 'moved') {
      return {
        success: true,
        message: `Thread ${id} is in trash; delete it again to delete it for good`,
      };
    }
    if (removal.state === 'gone') {
      return {
        success: true,
        message: `Thread ${id} is deleted for good, with ${messages} messages`,
      };
    }
  }
}
