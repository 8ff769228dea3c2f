// Computes the fair share of a holder (such as an organization) in a pool of places or bytes: seven
// tenths of the pool for a single holder, and less with every further holder. Also decides which
// holder has the next turn: the holder with the least time of work, not with the fewest turns. Only
// counts: callers have the queues, and shared-pool.ts evicts.

/**
 * Limit of a holder as a multiple of the free places (dynamic thresholds: Choudhury and Hahne,
 * 1998). This needs no number of holders: a single holder leaves a quarter free, two leave a
 * seventh, n leave 1 / (1 + 3n).
 */
const timesFree = 3;
/**
 * Fraction of the pool that is reserved for the first place of new holders. Earlier holders shrink
 * only when they give places back, so without a reserve four holders would fill the whole pool.
 */
const forNewcomers = 1 / 16;

/** Minimum that is recorded for a turn, so that holders with very short turns alternate too. */
const shortestTurnMs = 1;

/** Counts places (or bytes) of a pool and the time of turns, by the name of the holder. */
export class FairShare {
  readonly #places: number;
  readonly #spare: number;
  readonly #first: number;
  readonly #held = new Map<string, number>();
  #heldInAll = 0;
  /**
   * Time of the turns of each holder, as if all had begun together (start-time fair queueing: Goyal
   * et al., 1996). A missing holder is at `#turnMs`.
   */
  readonly #spentMs = new Map<string, number>();
  /**
   * Time of the holder with the last turn. New holders start here, so that idle time earns no
   * turns.
   */
  #turnMs = 0;

  /**
   * `first` is the amount that each holder may take from the reserve: a place, or the bytes of a
   * small mail.
   */
  constructor(places: number, first = 1) {
    this.#places = places;
    this.#spare = Math.floor(places * forNewcomers);
    this.#first = first;
  }

  /** Number of places of all holders. */
  get heldInAll(): number {
    return this.#heldInAll;
  }

  /** Returns the number of places of this holder. */
  heldBy(name: string): number {
    return this.#held.get(name) ?? 0;
  }

  /**
   * Tells whether `amount` more stays within the amount that is reserved for each holder (`first`).
   */
  isFirst(name: string, amount = 1): boolean {
    return this.heldBy(name) + amount <= this.#first;
  }

  /**
   * Tells whether a holder may take `amount` more. `handedOver`: holder that gives up a place for
   * this holder; null for none.
   */
  mayHold(name: string, amount = 1, handedOver: string | null = null): boolean {
    const held = this.heldBy(name) - (handedOver === name ? 1 : 0);
    const free = this.#free() + (handedOver === null ? 0 : 1);
    if (held + amount <= this.#first) return free >= amount;
    // Only the last place is checked, as if the holder took places one at a time.
    const before = amount - 1;
    return held + before < timesFree * (free - before - this.#spare);
  }

  /** Returns the number of further places that a holder may take one at a time. */
  roomFor(name: string): number {
    const held = this.heldBy(name);
    const free = this.#free();
    const room = Math.ceil((timesFree * (free - this.#spare) - held) / (timesFree + 1));
    return Math.max(room, Math.min(this.#first - held, free), 0);
  }

  /** Takes places (or bytes) without a check. The caller calls `mayHold` before. */
  hold(name: string, amount = 1): void {
    this.#held.set(name, this.heldBy(name) + amount);
    this.#heldInAll += amount;
  }

  /** Gives places (or bytes) back, at most as many as the holder has. */
  letGo(name: string, amount = 1): void {
    const held = this.heldBy(name);
    const given = Math.min(amount, held);
    this.#heldInAll -= given;
    if (held === given) this.#held.delete(name);
    else this.#held.set(name, held - given);
  }

  /**
   * Runs `work` in a place of this holder.
   * @throws the error of `full` if the holder's share is used up
   */
  async within<T>(name: string, full: () => Error, work: () => Promise<T>): Promise<T> {
    if (!this.mayHold(name)) throw full();
    this.hold(name);
    try {
      return await work();
    } finally {
      this.letGo(name);
    }
  }

  /**
   * Returns the holder among `names` with the least time, which has the next turn; undefined
   * without names.
   */
  findNext(names: Iterable<string>): string | undefined {
    let next: string | undefined;
    let leastMs = Number.POSITIVE_INFINITY;
    for (const name of names) {
      const spentMs = this.#spentBy(name);
      if (spentMs < leastMs) [next, leastMs] = [name, spentMs];
    }
    if (next !== undefined) this.#turnTo(leastMs);
    return next;
  }

  /**
   * Records the time of a turn. This holder has the next turn only after all waiting holders had as
   * much time.
   */
  recordTurn(name: string, ms: number): void {
    this.#spentMs.set(name, this.#spentBy(name) + Math.max(shortestTurnMs, ms));
  }

  #spentBy(name: string): number {
    return Math.max(this.#spentMs.get(name) ?? 0, this.#turnMs);
  }

  #turnTo(ms: number): void {
    this.#turnMs = ms;
    for (const [name, spentMs] of this.#spentMs) if (spentMs <= ms) this.#spentMs.delete(name);
  }

  #free(): number {
    return Math.max(0, this.#places - this.#heldInAll);
  }
}
