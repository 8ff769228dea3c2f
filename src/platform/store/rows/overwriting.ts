// Deletions that leave no bytes behind: SQLite also overwrites freed pages with zeros. Always doing
// so would cost about 5 % of the time of a send, as indexes free pages all the time.
// PostgreSQL's vacuum does the same automatically.
import type { Db } from '../db.ts';

const setters = new WeakMap<Db, (mode: 'ON' | 'FAST') => void>();

/** Registers the function by which the engine changes `secure_delete` on the connection. */
export function setOverwriting(trx: Db, set: (mode: 'ON' | 'FAST') => void): void {
  setters.set(trx, set);
}

/** Runs `work`. Deletions in it overwrite the freed pages. */
export async function overwriting<T>(trx: Db, work: () => Promise<T>): Promise<T> {
  const set = setters.get(trx);
  set?.('ON');
  try {
    return await work();
  } finally {
    set?.('FAST');
  }
}
