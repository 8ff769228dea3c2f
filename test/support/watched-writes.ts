// For tests of background writes: tells when such a write has ended. Its row is visible earlier,
// before the promise of the writer resolves.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../src/platform/store/db.ts';

/**
 * Watches the writes of `store`. Returns a function that resolves when no write is under way and
 * the continuations of the last write have run.
 */
export function watchWrites(store: Store): () => Promise<void> {
  const { write } = store;
  const underWay = new Set<Promise<unknown>>();
  const watched: Store['write'] = (work, durability) => {
    const written = write(work, durability);
    underWay.add(written);
    const end = () => underWay.delete(written);
    written.then(end, end);
    return written;
  };
  Object.assign(store, { write: watched });
  return async () => {
    do {
      await Promise.allSettled(underWay);
      await nextTurn();
    } while (underWay.size > 0);
  };
}
