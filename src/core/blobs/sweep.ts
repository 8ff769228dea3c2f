// Removes objects that no blob refers to, a day after the last blob is gone. Checks all objects, so
// that deletions of mail need not lock shared objects.
import { messageOf } from '../../platform/errors.ts';
import type { App } from '../app.ts';
import { timeOfAge } from '../clock/age.ts';
import { placeOf } from './blobs.ts';
import {
  beginRemoval,
  clearUnused,
  dateUnused,
  endRemoval,
  findLongUnused,
  findNewlyUnused,
} from './queries.ts';

/** Time between the end of an object's last blob and the removal: more than any request takes. */
export const unusedForMs = 86_400_000;
const perLook = 500;
const perRemoval = 100;

/**
 * Dates objects that became unused, and removes objects that have been unused for a day. Ends after
 * the current object if the signal aborts.
 * @returns the number of removed objects
 */
export async function sweepObjects(app: App, signal: AbortSignal): Promise<number> {
  await dateAll(app, signal);
  return removeLongUnused(app, signal);
}

async function dateAll({ store, clock }: App, signal: AbortSignal): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
    const looked: Awaited<ReturnType<typeof findNewlyUnused>> = await findNewlyUnused(
      store.db,
      after,
      perLook,
    );
    for (const { key, unused_at, is_unused } of looked) {
      if (unused_at !== null || !is_unused) continue;
      await store.write((trx) => dateUnused(trx, key, clock.now()), 'quiet');
    }
    after = looked.at(-1)?.key;
  }
}

async function removeLongUnused(app: App, signal: AbortSignal): Promise<number> {
  const { store, log } = app;
  const before = await timeOfAge(app, unusedForMs);
  let removed = 0;
  for (let isMore = true; isMore && !signal.aborted; ) {
    const due = await findLongUnused(store.db, before, perRemoval);
    isMore = due.length === perRemoval;
    for (const { key, driver } of due) {
      if (signal.aborted) break;
      const begun = await store.write(async (trx) => {
        const count = await beginRemoval(trx, key, before);
        if (count === 0) await clearUnused(trx, key, before);
        return count > 0;
      }, 'quiet');
      if (!begun) continue;
      try {
        await (await placeOf(app, driver)).remove(key);
      } catch (error) {
        // The file store fails, so further removals would fail too. The next sweep continues.
        log.warn({ err: error, driver }, `an unused file is not removed: ${messageOf(error)}`);
        return removed;
      }
      await store.write((trx) => endRemoval(trx, key), 'quiet');
      removed += 1;
    }
  }
  return removed;
}
