// The fair share of one holder in a pool of places or bytes: seven tenths as long as it is alone, less the
// more holders there are. Counts only; queues are the users' matter, evicting is shared-pool.ts.

/**
 * One may hold so many times what is left free (dynamic thresholds: Choudhury and Hahne, 1998). Nobody
 * has to be counted as active: alone it leaves a quarter, two leave a seventh, n leave 1 / (1 + 3n).
 */
const timesFree = 3;
/**
 * But this part is for those that hold nothing, one each: those who came first shrink only as they
 * give back, so that four in a row would have everything.
 */
const forNewcomers = 1 / 16;

/** Places (or bytes) of one pool, and how many each holder has, by its name. */
export class FairShare {
  readonly #places: number;
  readonly #spare: number;
  readonly #first: number;
  readonly #held = new Map<string, number>();
  #heldInAll = 0;

  /** `first` places of a holder may come from the reserve: one, or in a pool of bytes a small mail. */
  constructor(places: number, first = 1) {
    this.#places = places;
    this.#spare = Math.floor(places * forNewcomers);
    this.#first = first;
  }

  /** How many places this holder has. */
  heldBy(name: string): number {
    return this.#held.get(name) ?? 0;
  }

  /** Whether `amount` more would be within what any holder may have while something is free. */
  isFirst(name: string, amount = 1): boolean {
    return this.heldBy(name) + amount <= this.#first;
  }

  /** Whether it may take `amount` more; `handedOver` names the holder whose place it takes over. */
  mayHold(name: string, amount = 1, handedOver: string | null = null): boolean {
    const held = this.heldBy(name) - (handedOver === name ? 1 : 0);
    const free = this.#free() + (handedOver === null ? 0 : 1);
    if (held + amount <= this.#first) return free >= amount;
    // As if it took them one by one: the last one decides.
    const before = amount - 1;
    return held + before < timesFree * (free - before - this.#spare);
  }

  /** How many more it may take, one after the other. */
  roomFor(name: string): number {
    const held = this.heldBy(name);
    const free = this.#free();
    const room = Math.ceil((timesFree * (free - this.#spare) - held) / (timesFree + 1));
    return Math.max(room, Math.min(this.#first - held, free), 0);
  }

  /** Takes places, whether or not there are any: the caller asks `mayHold` before. */
  hold(name: string, amount = 1): void {
    this.#held.set(name, this.heldBy(name) + amount);
    this.#heldInAll += amount;
  }

  /** Gives places back; more than it holds counts as all. */
  letGo(name: string, amount = 1): void {
    const held = this.heldBy(name);
    const given = Math.min(amount, held);
    this.#heldInAll -= given;
    if (held === given) this.#held.delete(name);
    else this.#held.set(name, held - given);
  }

  /** Runs `work` in a place of this one. @throws what `full` makes where it may have none. */
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
