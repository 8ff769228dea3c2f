// Deletes old rows in batches, each in a separate `quiet` transaction.
import type { Db, Store } from '../db.ts';

const batch = 500;

/** Calls `work` until it deletes fewer rows than the limit; returns the number of deleted rows. */
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
