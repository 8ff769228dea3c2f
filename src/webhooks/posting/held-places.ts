// The places for deliveries that a daemon has claimed and not settled: every organization has a
// share, and a smaller share for endpoints that are slow or failing.
import { FairShare } from '../../platform/runtime/fairness/fair-share.ts';

const mostHeld = 456;
const mostReluctant = 100;

/** Holder of a place: the organization of a claimed delivery. */
export interface Holder {
  organizationId: string;
  /** The endpoint was slow or failing when the delivery was claimed. */
  isReluctant: boolean;
}

export class HeldPlaces {
  readonly #all = new FairShare(mostHeld);
  readonly #reluctant = new FairShare(mostReluctant);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Free places of all holders together. */
  get free(): number {
    return mostHeld - this.#count;
  }

  /** Returns how many more places the holder may take. */
  roomFor({ organizationId, isReluctant }: Holder): number {
    const room = this.#all.roomFor(organizationId);
    return isReluctant ? Math.min(room, this.#reluctant.roomFor(organizationId)) : room;
  }

  hold({ organizationId, isReluctant }: Holder, count: number): void {
    this.#count += count;
    for (let i = 0; i < count; i++) {
      this.#all.hold(organizationId);
      if (isReluctant) this.#reluctant.hold(organizationId);
    }
  }

  letGo({ organizationId, isReluctant }: Holder, count: number): void {
    this.#count -= count;
    for (let i = 0; i < count; i++) {
      this.#all.letGo(organizationId);
      if (isReluctant) this.#reluctant.letGo(organizationId);
    }
  }
}
