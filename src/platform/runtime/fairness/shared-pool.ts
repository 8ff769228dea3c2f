// A pool of places or bytes that holders (organizations, or networks of clients) share fairly
// (fair-share.ts). In a full pool, the slowest place is evicted for a new holder.
//
// the pool   | a newcomer                                  | a holder beyond its first places
// -----------+---------------------------------------------+---------------------------------
// has room   | enters                                      | enters within its share
// is full    | evicts the slowest of a larger holder; else | is refused
//            | the slowest below 10 KB/s; else is refused  |
import { FairShare } from './fair-share.ts';

/**
 * Speed below which a place may be evicted even if the holder has no more places than the new
 * holder.
 */
const slowBytesPerSecond = 10_000;

/** Work that takes a place. */
export interface Occupant {
  /** Organization or network for which the place counts. */
  readonly holder: string;
  /**
   * Returns the bytes per second that the client transferred lately: Infinity while the client
   * waits for the service; null if the place must not be evicted.
   */
  pace(): number | null;
  /** Ends the work with a clear answer to the client. The place is given back before this call. */
  evict(): void;
}

export class SharedPool {
  readonly #share: FairShare;
  readonly #places = new Set<Place>();

  /** `first` is the amount that each holder may take from the reserve (see FairShare). */
  constructor(size: number, first = 1) {
    this.#share = new FairShare(size, first);
  }

  /**
   * Takes a place of `amount`. Returns null if the share of the holder does not allow the amount.
   */
  enter(occupant: Occupant, amount = 1): Place | null {
    if (!this.#makeRoom(occupant.holder, amount)) return null;
    this.#share.hold(occupant.holder, amount);
    const place = new Place(this, occupant, amount);
    this.#places.add(place);
    return place;
  }

  /** Returns the amount of all places of a holder. */
  heldBy(holder: string): number {
    return this.#share.heldBy(holder);
  }

  /**
   * Tells whether a holder may try to take `amount` more. True for the reserved first amount: then
   * `enter` evicts, or fails if no place can be evicted.
   */
  hasRoom(holder: string, amount: number): boolean {
    return this.#share.isFirst(holder, amount) || this.#share.mayHold(holder, amount);
  }

  /**
   * Takes `amount` more for a place. Returns false if the share of the holder does not allow the
   * amount, or if the place was evicted.
   */
  grow(place: Place, amount: number): boolean {
    const { holder } = place.occupant;
    if (!this.#places.has(place) || !this.#makeRoom(holder, amount)) return false;
    this.#share.hold(holder, amount);
    place.amount += amount;
    return true;
  }

  /** Gives back a part of the amount of a place. */
  shrink(place: Place, amount: number): void {
    if (!this.#places.has(place)) return;
    this.#share.letGo(place.occupant.holder, amount);
    place.amount -= amount;
  }

  /**
   * Evicts the slowest place of a holder (the newest of equal places), unless the place is faster
   * than `mostPace`. Returns whether a place was evicted.
   */
  evictSlowestOf(holder: string, mostPace = Number.POSITIVE_INFINITY): boolean {
    let slowest: Place | null = null;
    let leastPace = mostPace;
    for (const place of this.#places) {
      if (place.occupant.holder !== holder) continue;
      const pace = place.occupant.pace();
      if (pace === null || pace > leastPace) continue;
      slowest = place;
      leastPace = pace;
    }
    if (!slowest) return false;
    slowest.leave();
    slowest.occupant.evict();
    return true;
  }

  /** Gives back the whole amount of a place. Further calls do nothing. */
  leave(place: Place): void {
    if (this.#places.delete(place)) this.#share.letGo(place.occupant.holder, place.amount);
  }

  #makeRoom(holder: string, amount: number): boolean {
    while (!this.#share.mayHold(holder, amount)) {
      if (!this.#share.isFirst(holder, amount)) return false;
      const most = this.#share.heldBy(holder) + amount;
      const place =
        this.#slowest(holder, (_pace, held) => held > most) ??
        this.#slowest(holder, (pace) => pace < slowBytesPerSecond);
      if (!place) return false;
      place.leave();
      place.occupant.evict();
    }
    return true;
  }

  /**
   * Returns the slowest place that may be evicted for a new holder, or null. Of equal places,
   * returns the newest place of the largest holder.
   */
  #slowest(newcomer: string, mayYield: (pace: number, held: number) => boolean): Place | null {
    let slowest: Place | null = null;
    let leastPace = Number.POSITIVE_INFINITY;
    let mostHeld = 0;
    for (const place of this.#places) {
      const { occupant } = place;
      if (occupant.holder === newcomer) continue;
      const pace = occupant.pace();
      const held = this.#share.heldBy(occupant.holder);
      if (pace === null || !mayYield(pace, held)) continue;
      if (pace > leastPace || (pace === leastPace && held < mostHeld)) continue;
      slowest = place;
      leastPace = pace;
      mostHeld = held;
    }
    return slowest;
  }
}

/** The place of an occupant in a pool. */
export class Place {
  readonly occupant: Occupant;
  /** Amount of the place. Only the pool changes it. */
  amount: number;
  readonly #pool: SharedPool;

  constructor(pool: SharedPool, occupant: Occupant, amount: number) {
    this.#pool = pool;
    this.occupant = occupant;
    this.amount = amount;
  }

  grow(amount: number): boolean {
    return this.#pool.grow(this, amount);
  }

  shrink(amount: number): void {
    this.#pool.shrink(this, amount);
  }

  leave(): void {
    this.#pool.leave(this);
  }
}
