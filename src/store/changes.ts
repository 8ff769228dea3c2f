// What a process keeps in memory of rows that each request needs and that seldom change: keys, plans.
// Whoever changes such rows moves a counter in the store, in the same transaction. Each process looks
// at that counter every half second, and where it has moved, forgets what it kept.
//
//   kept   | by                                                        | then
//   -------+-----------------------------------------------------------+------------------------
//   fresh  | half a second since the counter was read, a clock set back | stale
//   stale  | the counter stands where it stood                          | fresh
//   stale  | the counter has moved                                      | nothing is kept; fresh
//   stale  | the counter cannot be read                                 | stale; who asked is told
//   any    | a change by this process (`forget`)                        | nothing is kept
//
// What was being read meanwhile is answered, and not kept: it may be of the time before the change.
import type { LRUCache } from 'lru-cache';
import type { Clock } from '../runtime/clock.ts';
import { recentlyUsed } from '../runtime/recently-used.ts';
import type { Db, Store } from './db.ts';

const recheckMs = 500;

export class KnownRows<Row extends {}> {
  readonly #clock: Clock;
  readonly #countChanges: () => Promise<number>;
  readonly #rows: LRUCache<string, Row>;
  #seenChanges = -1;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #checking: Promise<void> | null = null;
  #forgettings = 0;

  /** Keeps the `most` rows used last; `countChanges` reads the counter. */
  constructor(clock: Clock, most: number, countChanges: () => Promise<number>) {
    this.#clock = clock;
    this.#countChanges = countChanges;
    this.#rows = recentlyUsed(most);
  }

  /** Whether `refresh` comes before `get`. */
  isStale(): boolean {
    const ageMs = this.#clock.now() - this.#checkedAt;
    return ageMs < 0 || ageMs >= recheckMs;
  }

  /**
   * Looks at the counter, once for all who ask meanwhile; `countChanges` reads it another way, such as
   * within a transaction. Rejects where it cannot be read.
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

  /** As `get`, without counting as a use. */
  peek(key: string): Row | undefined {
    return this.#rows.peek(key);
  }

  /** Reads a row that is not kept, and keeps it where there is one. */
  async load<Found extends Row | undefined>(
    key: string,
    read: () => Promise<Found>,
  ): Promise<Found> {
    const forgettings = this.#forgettings;
    const found = await read();
    if (found !== undefined && forgettings === this.#forgettings) this.#rows.set(key, found);
    return found;
  }

  /** To be called after the commit of a change that must hold in this process at once. */
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
 * Where a transaction reads what is committed, to be kept. On PostgreSQL that is the transaction itself:
 * were each to wait for a second connection, as many as the pool has would wait for one another. On
 * SQLite a transaction is shared with others, which may change the rows and fail.
 */
export function committedIn({ kind, db }: Pick<Store, 'kind' | 'db'>, trx: Db): Db {
  return kind === 'postgres' ? trx : db;
}
