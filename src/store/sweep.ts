// Old rows go some at a time, each batch in a transaction of its own that nobody waits for.
import type { Db, Store } from './db.ts';

const batch = 500;

/** Calls `work` until it deletes fewer rows than its limit; returns how many went. */
export async function sweep(
  store: Pick<Store, 'write'>,
  work: (trx: Db, limit: number) => Promise<number>,
): Promise<number> {
  let gone = 0;
  for (;;) {
    const some = await store.write((trx) => work(trx, batch), 'quiet');
    gone += some;
    if (some < batch) return gone;
  }
}
