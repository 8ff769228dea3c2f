// Statements that a write runs last, directly before the commit. Rows that many transactions change
// (counters) are locked only there, in a fixed order. On PostgreSQL this avoids deadlocks and long
// locks.
import type { Db, Store } from '../db.ts';
import { joiningWrite } from './each-write.ts';

/** Changes that a transaction collects and writes at its end. */
export interface LastWrite {
  write(trx: Db): Promise<void>;
}

/** Collected changes by connection, since a connection has a single transaction at a time. */
const gathered = new WeakMap<Db, Map<string, LastWrite>>();

/**
 * Returns the changes that this transaction collects under `name`; the first call creates them. The
 * write stores all such changes after the work, in the order of the names (`withLastWrites`).
 */
export function lastly<T extends LastWrite>(trx: Db, name: string, create: () => T): T {
  let kinds = gathered.get(trx);
  if (!kinds) {
    kinds = new Map();
    gathered.set(trx, kinds);
  }
  let kind = kinds.get(name);
  if (!kind) {
    kind = create();
    kinds.set(name, kind);
  }
  return kind as T;
}

/** Tells whether this transaction has called `lastly` with `name`. */
export function hasGathered(trx: Db, name: string): boolean {
  return gathered.get(trx)?.has(name) ?? false;
}

/**
 * Makes each write of the store end with the caller's joining write (each-write.ts), and then with
 * the changes collected by `lastly`.
 */
export function withLastWrites(store: Store): Store {
  const { write } = store;
  const writeAll: Store['write'] = (work, durability) => {
    const join = joiningWrite();
    return write(async (trx) => {
      // Changes of an earlier transaction that failed before its end are dropped.
      gathered.delete(trx);
      const value = await work(trx);
      await join?.(trx);
      const kinds = gathered.get(trx);
      if (kinds) {
        gathered.delete(trx);
        const sorted = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1));
        for (const [, kind] of sorted) await kind.write(trx);
      }
      return value;
    }, durability);
  };
  return Object.assign(store, { write: writeAll });
}
