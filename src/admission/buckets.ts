// The buckets that this process remembers. One that has filled up again is as good as new, so it is
// forgotten: memory follows the senders of the last seconds, not all that ever sent.
import { type Bucket, fullBucket, isFull, type Rate, retune } from './bucket.ts';

/** A request adds two at most, so that looking at more makes the map shrink. */
const looksPerRequest = 4;

export interface KnownBucket extends Bucket {
  /** Drawn on while this daemon was alone: the store does not know of it yet. */
  unshared: boolean;
}

export class Buckets {
  /** In the order in which they were last looked at. */
  readonly #buckets = new Map<string, KnownBucket>();

  /** The bucket of an organization or a key; full if it was not known. */
  get(id: string, rate: Rate, nowMs: number): KnownBucket {
    const known = this.#buckets.get(id);
    if (!known) {
      const made = { ...fullBucket(id, rate, nowMs), unshared: false };
      this.#buckets.set(id, made);
      return made;
    }
    if (known.rate.unitsPerMs !== rate.unitsPerMs || known.rate.burst !== rate.burst) {
      retune(known, rate, nowMs);
    }
    return known;
  }

  /** Forgets a few that are full; to be called after a draw, never between `get` and the draw. */
  forgetFull(nowMs: number): void {
    let looks = 0;
    for (const bucket of this.#buckets.values()) {
      if (looks++ === looksPerRequest) return;
      this.#buckets.delete(bucket.id);
      if (!isFull(bucket, nowMs)) this.#buckets.set(bucket.id, bucket);
    }
  }

  /** Those that the store does not know as they are. */
  unshared(): KnownBucket[] {
    return [...this.#buckets.values()].filter(({ unshared }) => unshared);
  }

  get size(): number {
    return this.#buckets.size;
  }
}
