// The fair share of a holder in a pool of places or bytes: seven tenths while it is alone, and less with every
// further holder. Only counts: callers own the queues, and shared-pool.ts evicts.

/**
 * Limit of a holder as a multiple of the free places (dynamic thresholds: Choudhury and Hahne, 1998). No count
 * of active holders is needed: one leaves a quarter free, two leave a seventh, n leave 1 / (1 + 3n).
 */
const timesFree = 3;
/**
 * Reserve for holders without a place, one each. Earlier holders shrink only as they give places back: without
 * it, four in a row would hold everything.
 */
const forNewcomers = 1 / 16;

/** Counts the places (or bytes) of one pool by the name of their holder. */
export class FairShare {
  readonly #places: number;
  readonly #spare: number;
  readonly #first: number;
  readonly #held = new Map<string, number>();
  #heldInAll = 0;

  /** Lets a holder's `first` places come from the reserve: one, or a small mail in a pool of bytes. */
  constructor(places: number, first = 1) {
    this.#places = places;
    this.#spare = Math.floor(places * forNewcomers);
    this.#first = first;
  }

  /** Returns the number of places of this holder. */
  heldBy(name: string): number {
    return this.#held.get(name) ?? 0;
  }

  /** Tells whether `amount` more are still the first places of this holder. */
  isFirst(name: string, amount = 1): boolean {
    return this.heldBy(name) + amount <= this.#first;
  }

  /** Tells whether a holder may take `amount` more. `handedOver` names the previous holder of the place. */
  mayHold(name: string, amount = 1, handedOver: string | null = null): boolean {
    const held = this.heldBy(name) - (handedOver === name ? 1 : 0);
    const free = this.#free() + (handedOver === null ? 0 : 1);
    if (held + amount <= this.#first) return free >= amount;
    // The last one decides, as if it took them one by one.
    const before = amount - 1;
    return held + before < timesFree * (free - before - this.#spare);
  }

  /** Returns the number of further places that it may take one by one. */
  roomFor(name: string): number {
    const held = this.heldBy(name);
    const free = this.#free();
    const room = Math.ceil((timesFree * (free - this.#spare) - held) / (timesFree + 1));
    return Math.max(room, Math.min(this.#first - held, free), 0);
  }

  /** Takes places without a check: the caller asks `mayHold` first. */
  hold(name: string, amount = 1): void {
    this.#held.set(name, this.heldBy(name) + amount);
    this.#heldInAll += amount;
  }

  /** Gives places back. More than the holder has counts as all of them. */
  letGo(name: string, amount = 1): void {
    const held = this.heldBy(name);
    const given = Math.min(amount, held);
    this.#heldInAll -= given;
    if (held === given) this.#held.delete(name);
    else this.#held.set(name, held - given);
  }

  /** Runs `work` in a place of this holder. @throws the error of `full` beyond its share */
  async within<T>(name: string, full: () => Error, work: () => Promise<T>): Promise<T> {
    if (!this.mayHold(name)) throw full();
    this.hold(name);
    try {
      return await work();
    } finally {
      this.letGo(name);
    }
  }

  #free(): number {
    return Math.max(0, this.#places - this.#heldInAll);
  }
}
