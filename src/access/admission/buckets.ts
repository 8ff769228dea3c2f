// Token buckets (specification 8.1): a single bucket, draws on several at once (all or none), and
// the buckets that this process remembers. Whole numbers only: a refill that is a fraction short
// would break the promise of Retry-After. Knows no organization and no store.
//
// A draw of N needs N tokens. If N exceeds the capacity, the draw needs a full bucket and leaves it
// in debt for the rest, so that waiting is always enough and the sustained rate holds.

/**
 * Tokens are counted in millionths: rates down to 0.001 a second refill by a whole number each ms.
 */
const unitsPerToken = 1_000_000;

/**
 * Largest time by which a level may be dated ahead because the clocks of two machines differ: the
 * bucket then refills only from that date on. A level dated further ahead comes from a clock that
 * was set back, so the date is ignored.
 */
const mostSkewMs = 5_000;

/** Refill rate and size of a bucket. */
export interface Rate {
  readonly unitsPerMs: number;
  readonly burst: number;
}

export interface Bucket {
  readonly id: string;
  rate: Rate;
  /** Tokens in millionths; below zero the bucket is in debt. */
  level: number;
  /** Time of the level, ms since 1970. */
  atMs: number;
}

/**
 * Returns a rate of `tokensPerSecond`, rounded to thousandths, with a bucket for `burstSeconds` of
 * refill.
 */
export function rateOf(tokensPerSecond: number, burstSeconds: number): Rate {
  const unitsPerMs = Math.max(1, Math.round((tokensPerSecond * unitsPerToken) / 1_000));
  return { unitsPerMs, burst: unitsPerMs * 1_000 * burstSeconds };
}

export function fullBucket(id: string, rate: Rate, nowMs: number): Bucket {
  return { id, rate, level: rate.burst, atMs: nowMs };
}

/** Returns the present level, in millionths of a token. */
export function levelAt({ rate, level, atMs }: Bucket, nowMs: number): number {
  if (nowMs <= atMs) return level;
  return Math.min(rate.burst, level + (nowMs - atMs) * rate.unitsPerMs);
}

function isFull(bucket: Bucket, nowMs: number): boolean {
  return levelAt(bucket, nowMs) === bucket.rate.burst;
}

/**
 * Returns the number of single tokens in a full bucket: at least 1, however small the bucket is.
 */
export function capacity({ burst }: Rate): number {
  return Math.max(1, Math.floor(burst / unitsPerToken));
}

/** Returns the number of single tokens available now. */
export function tokensIn(bucket: Bucket, nowMs: number): number {
  if (isFull(bucket, nowMs)) return capacity(bucket.rate);
  return Math.max(0, Math.floor(levelAt(bucket, nowMs) / unitsPerToken));
}

/** Brings level and time up to now. */
export function refill(bucket: Bucket, nowMs: number): void {
  bucket.level = levelAt(bucket, nowMs);
  const wasSetBack = bucket.atMs - nowMs > mostSkewMs;
  bucket.atMs = wasSetBack ? nowMs : Math.max(bucket.atMs, nowMs);
}

/**
 * Returns the milliseconds until `tokens` can be drawn from all buckets if no draw comes between; 0
 * for now.
 */
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

/**
 * Draws from all buckets and returns 0, or draws nothing and returns the wait in ms. At least
 * `leaving` tokens remain in each bucket after the draw.
 */
export function draw(
  buckets: readonly Bucket[],
  tokens: number,
  nowMs: number,
  leaving = 0,
): number {
  for (const bucket of buckets) refill(bucket, nowMs);
  const wait = waitMs(buckets, tokens + leaving, nowMs);
  if (wait > 0) return wait;
  for (const bucket of buckets) bucket.level -= tokens * unitsPerToken;
  return 0;
}

/** Gives back drawn tokens. A bucket never holds more than `rate.burst`. */
export function giveBack(buckets: readonly Bucket[], tokens: number, nowMs: number): void {
  for (const bucket of buckets) {
    refill(bucket, nowMs);
    bucket.level = Math.min(bucket.rate.burst, bucket.level + tokens * unitsPerToken);
  }
}

/** Applies a changed plan: tokens stay, up to the new size. */
export function retune(bucket: Bucket, rate: Rate, nowMs: number): void {
  refill(bucket, nowMs);
  bucket.rate = rate;
  bucket.level = Math.min(bucket.level, rate.burst);
}

/**
 * Number of buckets checked for fullness after each draw. A request adds two buckets at most, so
 * the map shrinks.
 */
const looksPerRequest = 4;

export interface KnownBucket extends Bucket {
  /** Set if the store lacks draws from this bucket, made while this daemon was alone. */
  unshared: boolean;
}

export class Buckets {
  /** Buckets by id, in the order of their last check. */
  readonly #buckets = new Map<string, KnownBucket>();

  /** Returns the bucket of an organization, a key or a member; an unknown bucket is full. */
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

  /** Drops a few full buckets. Call it after a draw, never between `get` and the draw. */
  forgetFull(nowMs: number): void {
    let looks = 0;
    for (const bucket of this.#buckets.values()) {
      if (looks++ === looksPerRequest) return;
      this.#buckets.delete(bucket.id);
      if (!isFull(bucket, nowMs)) this.#buckets.set(bucket.id, bucket);
    }
  }

  /** Returns the buckets with a level unknown to the store. */
  unshared(): KnownBucket[] {
    return [...this.#buckets.values()].filter(({ unshared }) => unshared);
  }

  get size(): number {
    return this.#buckets.size;
  }
}
