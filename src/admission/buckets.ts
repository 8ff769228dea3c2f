// Token buckets (specification 8.1): one, drawing on several at once, all or none, and those
// that this process remembers. Whole numbers only: a refill that is a fraction short would break the
// promise of Retry-After. Knows no organization and no store.
//
// A draw of N needs N tokens. Where N is more than the bucket holds it needs a full one and leaves it
// in debt for the rest, so that waiting is always enough and the sustained rate holds.

/** Tokens are counted in millionths: rates down to 0.001 a second refill by a whole number each ms. */
const unitsPerToken = 1_000_000;

/**
 * A level that was seen further ahead than this was seen by a clock that has been set back since.
 * Less than this is the difference between the clocks of two machines, and is waited for.
 */
const mostSkewMs = 5_000;

/** How fast a bucket fills, and how much it holds. */
export interface Rate {
  readonly unitsPerMs: number;
  readonly burst: number;
}

export interface Bucket {
  readonly id: string;
  rate: Rate;
  /** In units; below zero it is in debt. */
  level: number;
  /** When the level was so, ms since 1970. */
  atMs: number;
}

/** `tokensPerSecond` to the nearest thousandth; the bucket holds `burstSeconds` of it. */
export function rateOf(tokensPerSecond: number, burstSeconds: number): Rate {
  const unitsPerMs = Math.max(1, Math.round((tokensPerSecond * unitsPerToken) / 1_000));
  return { unitsPerMs, burst: unitsPerMs * 1_000 * burstSeconds };
}

export function fullBucket(id: string, rate: Rate, nowMs: number): Bucket {
  return { id, rate, level: rate.burst, atMs: nowMs };
}

/** What is in it now, in units. */
export function levelAt({ rate, level, atMs }: Bucket, nowMs: number): number {
  if (nowMs <= atMs) return level;
  return Math.min(rate.burst, level + (nowMs - atMs) * rate.unitsPerMs);
}

function isFull(bucket: Bucket, nowMs: number): boolean {
  return levelAt(bucket, nowMs) === bucket.rate.burst;
}

/** How many single tokens a full bucket gives: at least one, however small it is. */
export function capacity({ burst }: Rate): number {
  return Math.max(1, Math.floor(burst / unitsPerToken));
}

/** How many single tokens it would give now. */
export function tokensIn(bucket: Bucket, nowMs: number): number {
  if (isFull(bucket, nowMs)) return capacity(bucket.rate);
  return Math.max(0, Math.floor(levelAt(bucket, nowMs) / unitsPerToken));
}

/** Brings level and time up to now. */
function refill(bucket: Bucket, nowMs: number): void {
  bucket.level = levelAt(bucket, nowMs);
  const wasSetBack = bucket.atMs - nowMs > mostSkewMs;
  bucket.atMs = wasSetBack ? nowMs : Math.max(bucket.atMs, nowMs);
}

/** Milliseconds until `tokens` can be drawn from all of them if nobody else draws; 0 for now. */
export function waitMs(buckets: readonly Bucket[], tokens: number, nowMs: number): number {
  let longest = 0;
  for (const bucket of buckets) {
    const { rate, atMs } = bucket;
    const needed = Math.min(tokens * unitsPerToken, rate.burst);
    const missing = needed - levelAt(bucket, nowMs);
    if (missing <= 0) continue;
    const aheadMs = atMs - nowMs > mostSkewMs ? 0 : Math.max(0, atMs - nowMs);
    longest = Math.max(longest, aheadMs + Math.ceil(missing / rate.unitsPerMs));
  }
  return longest;
}

/** Draws from all of them and returns 0, or from none and returns `waitMs`. */
export function draw(buckets: readonly Bucket[], tokens: number, nowMs: number): number {
  for (const bucket of buckets) refill(bucket, nowMs);
  const wait = waitMs(buckets, tokens, nowMs);
  if (wait > 0) return wait;
  for (const bucket of buckets) bucket.level -= tokens * unitsPerToken;
  return 0;
}

/** Gives back what was drawn a moment ago; never more than the bucket holds. */
export function giveBack(buckets: readonly Bucket[], tokens: number, nowMs: number): void {
  for (const bucket of buckets) {
    refill(bucket, nowMs);
    bucket.level = Math.min(bucket.rate.burst, bucket.level + tokens * unitsPerToken);
  }
}

/** A changed plan: what is in the bucket stays, as far as the new one holds it. */
export function retune(bucket: Bucket, rate: Rate, nowMs: number): void {
  refill(bucket, nowMs);
  bucket.rate = rate;
  bucket.level = Math.min(bucket.level, rate.burst);
}

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
