// What one of many may hold of a number of places: as long as it is alone, seven tenths; the more of
// them hold places, the less each. Counts only; who waits, and for how long, is its users' matter.

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

/** Places and who holds them, by a name. */
export class FairShare {
  readonly #places: number;
  readonly #spare: number;
  readonly #held = new Map<string, number>();
  #heldInAll = 0;

  constructor(places: number) {
    this.#places = places;
    this.#spare = Math.floor(places * forNewcomers);
  }

  /** How many this one holds. */
  heldBy(name: string): number {
    return this.#held.get(name) ?? 0;
  }

  /** Whether it may take one more place; `handedOver` by whom, where it takes over somebody's. */
  mayHold(name: string, handedOver: string | null = null): boolean {
    const held = this.heldBy(name) - (handedOver === name ? 1 : 0);
    const free = this.#free() + (handedOver === null ? 0 : 1);
    return held < timesFree * (free - this.#spare) || (held === 0 && free > 0);
  }

  /** How many more it may take, one after the other. */
  roomFor(name: string): number {
    const held = this.heldBy(name);
    const free = this.#free();
    const room = Math.ceil((timesFree * (free - this.#spare) - held) / (timesFree + 1));
    return Math.max(room, held === 0 && free > 0 ? 1 : 0);
  }

  /** Takes a place, whether or not there is one: asking is the caller's. */
  hold(name: string): void {
    this.#held.set(name, this.heldBy(name) + 1);
    this.#heldInAll += 1;
  }

  letGo(name: string): void {
    const held = this.heldBy(name);
    if (held === 0) return;
    this.#heldInAll -= 1;
    if (held === 1) this.#held.delete(name);
    else this.#held.set(name, held - 1);
  }

  #free(): number {
    return Math.max(0, this.#places - this.#heldInAll);
  }
}
