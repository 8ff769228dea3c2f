// For tests of what writes by itself, at its own times: when such a write is over, not when its row is
// seen. The row is there before the promise of who wrote it resolves.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../src/store/db.ts';

/**
 * Watches the writes of `store` from now on. The function that it returns resolves when none is under
 * way and what waited for the last one has run.
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
