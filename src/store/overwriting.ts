// Deletions that leave no bytes behind: SQLite writes zeros over pages that they free, too. Always doing so costs a
// send about 5 % of its time, as its indexes free pages all the while; PostgreSQL's vacuum does the same by itself.
import type { Db } from './db.ts';

const setters = new WeakMap<Db, (mode: 'ON' | 'FAST') => void>();

/** For the engine: how its connection changes `secure_delete`. */
export function setOverwriting(trx: Db, set: (mode: 'ON' | 'FAST') => void): void {
  setters.set(trx, set);
}

/** Runs `work`, which deletes for good. */
export async function overwriting<T>(trx: Db, work: () => Promise<T>): Promise<T> {
  const set = setters.get(trx);
  set?.('ON');
  try {
    return await work();
  } finally {
    set?.('FAST');
  }
}
