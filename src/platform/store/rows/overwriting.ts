// Deletions that leave no bytes behind: SQLite also overwrites freed pages with zeros. For every
// deletion this would cost about 5 % of a send, since indexes often free pages. PostgreSQL's vacuum
// needs no such mode.
import type { Db } from '../db.ts';

const setters = new WeakMap<Db, (mode: 'ON' | 'FAST') => void>();

/** Registers the function by which the engine changes `secure_delete` on the connection. */
export function setOverwriting(trx: Db, set: (mode: 'ON' | 'FAST') => void): void {
  setters.set(trx, set);
}

/** Runs `work`, in which deletions overwrite the freed pages. */
export async function overwriting<T>(trx: Db, work: () => Promise<T>): Promise<T> {
  const set = setters.get(trx);
  set?.('ON');
  try {
    return await work();
  } finally {
    set?.('FAST');
  }
}
