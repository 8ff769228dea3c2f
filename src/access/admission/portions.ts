// Portion of this daemon in the limits that the daemons of a store divide (portion.ts). Each
// heartbeat (peers.ts) renews the right to the portion. Times are of `clock.elapsed()`.
//
//   this daemon | event                                         | portion of this daemon
//   ------------+-----------------------------------------------+--------------------------------
//   new         | first heartbeat, no second daemon exists      | the whole
//   new         | first heartbeat, daemons exist already        | none for 5 s, until all know it
//   any         | a daemon comes, goes or is silent for 10 s    | the smaller for 5 s, then the new
//   any         | no heartbeat for 3 s                          | none, until the next heartbeat
//   any         | a heartbeat after 6 s without heartbeats      | as for a new daemon
//
// A portion shrinks at once and grows after 5 s: by then each daemon has seen the change, or has
// had no heartbeat for 3 s.
import type { App } from '../../core/app.ts';
import { noPortion, type Place, wholePortion } from '../../platform/runtime/fairness/portion.ts';
import { perApp } from '../../platform/runtime/per-app.ts';

/** Time after a heartbeat in which this daemon may use a portion of the limits. */
export const trustMs = 3_000;
/** Time in which every daemon learns of a change: heartbeats come each second. */
const holdMs = 5_000;
/** Time without a heartbeat after which the peers may soon count this daemon as dead. */
const lostMs = 6_000;

class Portions {
  #isManaged = false;
  #seenAt = Number.NEGATIVE_INFINITY;
  /** End of the time in which a new daemon has no portion. */
  #waitsUntil = Number.NEGATIVE_INFINITY;
  /**
   * Numbers and ranks that heartbeats of the last 5 s showed; `at`: the last heartbeat with them.
   */
  #places: (Place & { at: number })[] = [];

  /** Begins to divide limits by heartbeats. Until then this process counts as the only daemon. */
  begin(): void {
    this.#isManaged = true;
  }

  /**
   * Records the number of daemons, and the rank of this daemon, that a heartbeat at `now` showed.
   */
  see({ count, rank }: Place, now: number): void {
    const isNew = now - this.#seenAt > lostMs;
    if (isNew) this.#places = [];
    if (isNew && count > 1) this.#waitsUntil = now + holdMs;
    this.#seenAt = now;
    const known = this.#places.find((one) => one.count === count && one.rank === rank);
    if (known) known.at = now;
    else this.#places.push({ count, rank, at: now });
    this.#places = this.#places.filter(({ at }) => now - at <= holdMs);
  }

  /** Returns the numbers and ranks in force at `now`; the smallest of their portions applies. */
  at(now: number): readonly Place[] {
    if (!this.#isManaged) return wholePortion.places;
    if (now - this.#seenAt > trustMs || now < this.#waitsUntil) return noPortion.places;
    return this.#places
      .filter(({ at }) => now - at <= holdMs)
      .map(({ count, rank }) => ({ count, rank }));
  }

  /** Returns the number of live daemons, as far as this daemon knows, including this daemon. */
  daemons(now: number): number {
    return Math.max(1, ...this.at(now).map(({ count }) => count));
  }
}

export const portionsOf = perApp((_app: App) => new Portions());
