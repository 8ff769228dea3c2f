// What a write does last, just before its commit. Rows that many transactions share (counters) are
// locked then and there, in one order: on PostgreSQL whoever holds one waits for nothing else, so that
// none deadlock, and holds it no longer than the commit takes.
import type { Db, Store } from './db.ts';

/** What a transaction gathers until its end. */
export interface LastWrite {
  write(trx: Db): Promise<void>;
}

/** Changes of counters, added up by key: one of them for each counter, whatever happened to it. */
export class CountChanges<Row extends { count: number }> implements LastWrite {
  readonly #rows = new Map<string, Row>();
  readonly #add: (trx: Db, sorted: readonly Row[]) => Promise<void>;

  /** `add` adds to the counters, in the order of the rows. */
  constructor(add: (trx: Db, sorted: readonly Row[]) => Promise<void>) {
    this.#add = add;
  }

  /**
   * The counter of `key`, all of whose rows differ in their count alone, moves by `row.count`. Takes the
   * row over.
   */
  add(key: string, row: Row): void {
    const known = this.#rows.get(key);
    if (known) known.count += row.count;
    else this.#rows.set(key, row);
  }

  write(trx: Db): Promise<void> {
    const sorted = [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1));
    const moved = sorted.flatMap(([, row]) => (row.count === 0 ? [] : row));
    return this.#add(trx, moved);
  }
}

/** By the connection of the transaction: there is one transaction on it at a time. */
const gathered = new WeakMap<Db, Map<string, LastWrite>>();

/**
 * What this transaction gathers under `name`: made at the first call, written once all its work is
 * done, in the order of the names. Nothing is written for what is no write of `withLastWrites`.
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

/** Whether this transaction has gathered anything under `name`. */
export function hasGathered(trx: Db, name: string): boolean {
  return gathered.get(trx)?.has(name) ?? false;
}

/** The store, whose writes end with what they gathered by `lastly`. */
export function withLastWrites(store: Store): Store {
  const { write } = store;
  const writeAll: Store['write'] = (work, durability) =>
    write(async (trx) => {
      // Of a transaction that failed before its end.
      gathered.delete(trx);
      const value = await work(trx);
      const kinds = gathered.get(trx);
      if (kinds) {
        gathered.delete(trx);
        const sorted = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1));
        for (const [, kind] of sorted) await kind.write(trx);
      }
      return value;
    }, durability);
  return Object.assign(store, { write: writeAll });
}
