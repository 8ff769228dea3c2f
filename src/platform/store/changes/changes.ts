// Cache in memory of rows that each request needs and that seldom change: keys, plans. A
// transaction that changes such rows increments a counter in the store. Each process reads the
// counter every half second, and clears the cache if it has changed.
//
//   cache  | event                                                     | then
//   -------+-----------------------------------------------------------+------------------------
//   fresh  | half a second since the counter was read, a clock set back | stale
//   stale  | the counter is unchanged                                   | fresh
//   stale  | the counter has moved                                      | emptied; fresh
//   stale  | the counter cannot be read                                 | stale; the caller gets the error
//   any    | a change by this process (`forget`)                        | emptied
//
// A row that was being read while the cache was emptied is returned but not kept: it may predate
// the change.
import type { LRUCache } from 'lru-cache';
import type { Clock } from '../../runtime/clock.ts';
import { recentlyUsed } from '../../runtime/recently-used.ts';
import type { Db, Store } from '../db.ts';

const recheckMs = 500;

export class KnownRows<Row extends {}> {
  readonly #clock: Clock;
  readonly #countChanges: () => Promise<number>;
  readonly #rows: LRUCache<string, Row>;
  #seenChanges = -1;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking: Promise<void> | null = null;
  #forgettings = 0;

  /** Keeps the `most` rows used last. `countChanges` reads the counter. */
  constructor(clock: Clock, most: number, countChanges: () => Promise<number>) {
    this.#clock = clock;
    this.#countChanges = countChanges;
    this.#rows = recentlyUsed(most);
  }

  /** Whether the caller must call `refresh` before `get`. */
  isStale(): boolean {
    const ageMs = this.#clock.now() - this.#checkedAt;
    return ageMs < 0 || ageMs >= recheckMs;
  }

  /**
   * Reads the counter, and empties the cache if the counter has changed. Calls at the same time
   * share a read. `countChanges` may be a different read, such as a read in a transaction. Rejects
   * if the counter cannot be read.
   */
  refresh(countChanges = this.#countChanges): Promise<void> {
    this.#checking ??= this.#check(this.#clock.now(), countChanges).finally(() => {
      this.#checking = null;
    });
    return this.#checking;
  }

  get(key: string): Row | undefined {
    return this.#rows.get(key);
  }

  /** Reads a row like `get`, without counting as a use. */
  peek(key: string): Row | undefined {
    return this.#rows.peek(key);
  }

  /**
   * Reads a row that is not cached. Caches the row if it exists, unless the cache was emptied
   * meanwhile.
   */
  async load<Found extends Row | undefined>(
    key: string,
    read: () => Promise<Found>,
  ): Promise<Found> {
    const forgettings = this.#forgettings;
    const found = await read();
    if (found !== undefined && forgettings === this.#forgettings) this.#rows.set(key, found);
    return found;
  }

  /** Empties the cache. Call it after the commit of a change that must take effect here at once. */
  forget(): void {
    this.#rows.clear();
    this.#forgettings += 1;
  }

  async #check(now: number, countChanges: () => Promise<number>): Promise<void> {
    const changes = await countChanges();
    if (changes !== this.#seenChanges) this.forget();
    this.#seenChanges = changes;
    this.#checkedAt = now;
  }
}

/**
 * Returns the connection on which a transaction reads committed rows for the cache. On PostgreSQL
 * it is the connection of the transaction: with a second connection for each transaction, a full
 * pool would deadlock. On SQLite it is `db`, because parallel writes share the transaction and may
 * change rows and then fail.
 */
export function committedIn({ kind, db }: Pick<Store, 'kind' | 'db'>, trx: Db): Db {
  return kind === 'postgres' ? trx : db;
}
