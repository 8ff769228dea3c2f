// For tests of background writes: reports when such a write is over, not when its row is visible.
// The row is visible before the promise of its writer resolves.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../src/platform/store/db.ts';

/**
 * Watches the writes of `store` from now on. The returned function resolves when no write is under
 * way and the continuations of the last one have run.
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
