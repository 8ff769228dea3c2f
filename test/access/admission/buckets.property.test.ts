// Specification 7 rule 1 and 8.1 as laws over random schedules: waiting Retry-After is always
// enough and never a second too long; burst and rate bound the admitted requests; both buckets are
// drawn or neither.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Bucket,
  draw,
  fullBucket,
  giveBack,
  levelAt,
  rateOf,
  retune,
  waitMs,
} from '../../../src/access/admission/buckets.ts';

const start = Date.UTC(2026, 0, 5, 12);
const unit = 1_000_000;

/** Rates of the plans, and rates that an operator may configure. */
const perSecond = fc.oneof(
  fc.constantFrom(5, 10, 25, 50),
  fc.double({ min: 0.05, max: 2_000, noNaN: true }),
);
const step = fc.record({
  passesMs: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 5_000 })),
  key: fc.integer({ min: 0, max: 2 }),
  tokens: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 100 })),
});
const schedule = fc.array(step, { maxLength: 60 });

interface World {
  organization: Bucket;
  keys: Bucket[];
}

function world(rate: number): World {
  return {
    organization: fullBucket('org', rateOf(rate, 2), start),
    keys: [0, 1, 2].map((index) => fullBucket(`key${index}`, rateOf(rate, 1), start)),
  };
}

function both({ organization, keys }: World, key: number): Bucket[] {
  return [organization, ...keys.slice(key, key + 1)];
}

function copyOf(buckets: readonly Bucket[]): Bucket[] {
  return buckets.map((bucket) => ({ ...bucket }));
}

describe('two buckets under a random schedule', () => {
  it('7.1: admits the same request after Retry-After, and never a second earlier', () => {
    fc.assert(
      fc.property(perSecond, schedule, (rate, steps) => {
        const { organization, keys } = world(rate);
        let now = start;
        for (const { passesMs, key, tokens } of steps) {
          now += passesMs;
          const buckets = both({ organization, keys }, key);
          const before = copyOf(buckets);
          const wait = draw(buckets, tokens, now);
          if (wait === 0) continue;
          const retryAfter = Math.ceil(wait / 1_000);
          expect(draw(copyOf(buckets), tokens, now + retryAfter * 1_000)).toBe(0);
          expect(draw(copyOf(buckets), tokens, now + (retryAfter - 1) * 1_000)).toBeGreaterThan(0);
          expect(draw(copyOf(before), tokens, now + wait)).toBe(0);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('8.1: draws on neither bucket when either refuses', () => {
    fc.assert(
      fc.property(perSecond, schedule, (rate, steps) => {
        const now = { ms: start };
        const { organization, keys } = world(rate);
        for (const { passesMs, key, tokens } of steps) {
          now.ms += passesMs;
          const buckets = both({ organization, keys }, key);
          const before = buckets.map((bucket) => levelAt(bucket, now.ms));
          const drawn = draw(buckets, tokens, now.ms) === 0 ? tokens * unit : 0;
          expect(buckets.map(({ level }) => level)).toEqual(before.map((level) => level - drawn));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('8.1: admits no more than burst and rate in any stretch of time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), schedule, (rate, steps) => {
        const { organization, keys } = world(rate);
        const admitted: { atMs: number; tokens: number }[] = [];
        let now = start;
        for (const { passesMs, key } of steps) {
          now += passesMs;
          let tokens = 0;
          while (draw(both({ organization, keys }, key), 1, now) === 0) tokens++;
          admitted.push({ atMs: now, tokens });
        }
        for (const [index, from] of admitted.entries()) {
          let sum = 0;
          for (const to of admitted.slice(index)) {
            sum += to.tokens;
            expect(sum).toBeLessThanOrEqual(2 * rate + ((to.atMs - from.atMs) * rate) / 1_000);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('returns to the state before a batch that is given back', () => {
    fc.assert(
      fc.property(perSecond, schedule, (rate, steps) => {
        const { organization, keys } = world(rate);
        let now = start;
        for (const { passesMs, key, tokens } of steps) {
          now += passesMs;
          const buckets = both({ organization, keys }, key);
          draw(buckets, tokens, now);
          const before = copyOf(buckets);
          if (draw(buckets, 1, now) === 0) giveBack(buckets, 1, now);
          expect(buckets).toEqual(before);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('a bucket', () => {
  it('never overfills, however long it is left alone', () => {
    const bucket = fullBucket('org', rateOf(5, 2), start);
    draw([bucket], 10, start);
    expect(levelAt(bucket, start + 365 * 86_400_000)).toBe(10 * unit);
  });

  it('never overfills from tokens that are given back', () => {
    const bucket = fullBucket('org', rateOf(5, 2), start);
    expect(draw([bucket], 3, start)).toBe(0);
    giveBack([bucket], 8, start);
    expect(bucket.level).toBe(bucket.rate.burst);
    expect(draw([bucket], 10, start)).toBe(0);
    expect(draw([bucket], 1, start)).toBe(200);
  });

  it('admits a request above its capacity when full, and then stays in debt until that is paid', () => {
    const bucket = fullBucket('org', rateOf(5, 2), start);
    expect(draw([bucket], 100, start)).toBe(0);
    expect(waitMs([bucket], 1, start)).toBe(91 * 200);
    expect(waitMs([bucket], 100, start)).toBe(100 * 200);
    expect(draw([bucket], 1, start + 91 * 200 - 1)).toBe(1);
    expect(draw([bucket], 1, start + 91 * 200)).toBe(0);
  });

  it('admits one request at once at a rate below one a second, then one per interval', () => {
    const bucket = fullBucket('org', rateOf(0.1, 2), start);
    expect(draw([bucket], 1, start)).toBe(0);
    expect(draw([bucket], 1, start)).toBe(10_000);
    expect(draw([bucket], 1, start + 10_000)).toBe(0);
  });

  it('forgets time not yet counted when the clock is set back, and keeps admitting', () => {
    const bucket = fullBucket('org', rateOf(5, 2), start);
    draw([bucket], 10, start);
    const earlier = start - 3_600_000;
    expect(draw([bucket], 1, earlier)).toBe(200);
    expect(draw([bucket], 1, earlier + 200)).toBe(0);
  });

  it('waits for a clock that is slightly ahead instead of filling twice', () => {
    const bucket = fullBucket('org', rateOf(5, 2), start);
    draw([bucket], 10, start);
    const behind = start - 1_000;
    expect(draw([bucket], 1, behind)).toBe(1_200);
    expect(draw([bucket], 1, behind + 1_199)).toBe(1);
    expect(draw([bucket], 1, behind + 1_200)).toBe(0);
  });

  it('keeps its level through a change of plan, up to the new capacity', () => {
    const bucket = fullBucket('org', rateOf(50, 2), start);
    draw([bucket], 40, start);
    retune(bucket, rateOf(5, 2), start);
    expect(bucket.level).toBe(10 * unit);
    draw([bucket], 10, start);
    retune(bucket, rateOf(25, 2), start);
    expect(waitMs([bucket], 1, start)).toBe(40);
  });
});
