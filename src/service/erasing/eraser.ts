// Erases the copies of deleted resources (src/history/erasures), in batches. After a crash the next
// step continues.
//
//   passes | event                                  | to
//   -------+----------------------------------------+--------------------------------------
//   (none) | the transaction of a deletion          | 0, due at once
//   0      | all copies are erased                  | 1, due two minutes later
//   any    | a proposal in the thread is open       | the same, due an hour later
//   any    | an error of the service                | the same, due a minute later: the rest continues
//   1      | copies written meanwhile are erased    | (none); on SQLite the words are merged later
import type { App } from '../../core/app.ts';
import {
  deleteErasure,
  type ErasureRow,
  keepErasure,
  lockDue,
  nextDue,
  updateErasure,
} from '../../history/erasures/queries.ts';
import { createDueLoop, type Pause, usualRestMs } from '../../platform/store/changes/due-loop.ts';
import type { Db } from '../../platform/store/db.ts';
import { overwriting } from '../../platform/store/rows/overwriting.ts';
import { eraseCopies } from './copies.ts';

/** Most requests (rows of the erasures) that a transaction processes. */
const requestsAtOnce = 10;
/**
 * Time in ms until the second pass, which erases copies written meanwhile: by then a webhook post
 * that ran during the deletion has ended, and the response is stored.
 */
const secondPassMs = 120_000;
const passesWanted = 2;
const whileProposedMs = 3_600_000;
const afterErrorMs = 60_000;
const storeAfterMs = 900_000;
/** Pause between two steps, so that rewriting a large index does not block other work. */
const restMs = 10;

/**
 * Schedules the rewrite of the full-text index and of the log of SQLite, which keep deleted data. A
 * rewrite serves all deletions of 15 minutes.
 */
async function eraseStore({ clock, store }: App, trx: Db, row: ErasureRow): Promise<void> {
  if (store.kind !== 'sqlite') return;
  const now = clock.now();
  await keepErasure(trx, {
    id: 'thread_search',
    organization_id: row.organization_id,
    kind: 'words',
    about: '{}',
    passes: 0,
    due_at: now + storeAfterMs,
    created_at: now,
  });
}

/** Erases a batch of a request. Returns whether the request ended. */
async function eraseOne(app: App, trx: Db, row: ErasureRow): Promise<boolean> {
  const {
    isDone,
    isWaiting = false,
    about = {},
  } = await overwriting(trx, () => eraseCopies[row.kind](trx, row));
  const passes = isDone && !isWaiting ? row.passes + 1 : row.passes;
  if (isDone && !isWaiting && (row.kind === 'words' || passes === passesWanted)) {
    await deleteErasure(trx, row.id);
    if (row.kind !== 'words') await eraseStore(app, trx, row);
    return true;
  }
  const due_at = isDone
    ? app.clock.now() + (isWaiting ? whileProposedMs : secondPassMs)
    : row.due_at;
  const isResource = row.kind !== 'message';
  const kept = isResource ? JSON.stringify(isDone ? {} : about) : row.about;
  await updateErasure(trx, row.id, { about: kept, passes, due_at });
  return false;
}

/**
 * Processes up to ten due requests in a transaction; after an error, only the first request.
 * Returns the number of processed requests.
 */
async function eraseSome(app: App): Promise<number> {
  try {
    return await eraseTogether(app, requestsAtOnce);
  } catch {
    return await eraseAlone(app);
  }
}

/**
 * Processes the first due request, or puts it off after an error. Returns the number of requests.
 */
async function eraseAlone(app: App): Promise<number> {
  try {
    return await eraseTogether(app, 1);
  } catch (error) {
    const due_at = app.clock.now() + afterErrorMs;
    const put = await app.store.write(async (trx) => {
      const [row] = await lockDue(trx, app.clock.now(), 1);
      if (row) await updateErasure(trx, row.id, { about: row.about, passes: row.passes, due_at });
      return row;
    }, 'quiet');
    const known = { err: error, resourceId: put?.id, kind: put?.kind };
    app.log.error(known, 'copies of a deleted resource cannot be erased now: trying again');
    return put ? 1 : 0;
  }
}

/** Processes some due requests in a single transaction; returns their number. */
async function eraseTogether(app: App, limit: number): Promise<number> {
  const { count, isStoreDone } = await app.store.write(async (trx) => {
    const due = await lockDue(trx, app.clock.now(), limit);
    let isStoreDone = false;
    for (const row of due) {
      const isEnded = await eraseOne(app, trx, row);
      isStoreDone ||= isEnded && row.kind === 'words';
    }
    return { count: due.length, isStoreDone };
  }, 'quiet');
  if (isStoreDone) app.store.emptyLog?.();
  return count;
}

/** Processes all requests that are due now. */
export async function eraseDue(app: App): Promise<void> {
  while ((await eraseSome(app)) > 0);
}

export interface Eraser {
  start(): void;
  stop(): Promise<void>;
}

/** Creates the loop of a daemon that erases copies of deleted content. */
export function createEraser(app: App): Eraser {
  const step = async (): Promise<number | Pause> => {
    const due = await nextDue(app.store.db);
    if (due > app.clock.now()) return due;
    await eraseSome(app);
    return { pauseMs: restMs };
  };
  const trouble = 'copies of deleted content cannot be erased now: trying again';
  const loop = createDueLoop(app, { name: 'eraser', step, trouble, restMs: usualRestMs });
  return { start: () => loop.start(), stop: () => loop.stop() };
}
