// Holds the writes of concurrent requests until each request has asked for a write.
import type { Store } from '../../src/platform/store/db.ts';

/** Holds the next `count` writes of `store` until the last of them is asked for. Then all begin. */
export function meetInWrites(store: Store, count: number): void {
  const { write } = store;
  const { promise: all, resolve: begin } = Promise.withResolvers<void>();
  let asked = 0;
  const meeting: Store['write'] = async (work, durability) => {
    asked += 1;
    if (asked === count) {
      Object.assign(store, { write });
      begin();
    }
    await all;
    return write(work, durability);
  };
  Object.assign(store, { write: meeting });
}
