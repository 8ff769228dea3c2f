// The pace of a run, and a model that sends one message after the other.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AllowanceAt,
  forecastOf,
  unlimited,
} from '../../../src/campaigns/audience/forecast.ts';

const dayMs = 86_400_000;
const start = Date.UTC(2026, 0, 5, 12);
const secondsOf = (pace: { firstAt: number | null; lastAt: number | null }) =>
  [pace.firstAt, pace.lastAt].map((time) => (time === null ? null : (time - start) / 1_000));

/** Allows `left` in each period, which begin at `offset` and last `length`. */
function periods(left: number | readonly number[], length: number, offset = 0): AllowanceAt {
  return (time) => {
    const index = Math.floor((time - offset) / length);
    const first = Math.floor((start - offset) / length);
    const list = [left].flat();
    const allowed = list[Math.min(index - first, list.length - 1)] ?? 0;
    return { left: allowed, endsAt: offset + (index + 1) * length };
  };
}

describe('the pace of a run', () => {
  it('is one instant without limits', () => {
    const pace = forecastOf(1_000_000, start, {
      ratePerSecond: null,
      quotaAt: unlimited,
      warmingAt: unlimited,
    });
    expect([...secondsOf(pace), pace.limitedBy]).toEqual([0, 0, null]);
  });

  it('has no times without messages', () => {
    const pace = forecastOf(0, start, {
      ratePerSecond: 1,
      quotaAt: unlimited,
      warmingAt: unlimited,
    });
    expect([...secondsOf(pace), pace.limitedBy]).toEqual([null, null, null]);
  });

  it('follows the rate', () => {
    const pace = forecastOf(101, start, {
      ratePerSecond: 10,
      quotaAt: unlimited,
      warmingAt: unlimited,
    });
    expect([...secondsOf(pace), pace.limitedBy]).toEqual([0, 10, 'rate']);
  });

  it('continues at midnight UTC after the quota of a day', () => {
    const limits = { ratePerSecond: 10, quotaAt: periods([0, 100], dayMs), warmingAt: unlimited };
    const pace = forecastOf(201, start, limits);
    const midnight = 12 * 3_600;
    expect([...secondsOf(pace), pace.limitedBy]).toEqual([
      midnight,
      midnight + 2 * 86_400,
      'daily-quota',
    ]);
  });

  it('waits for the windows of warming', () => {
    const warmingAt = periods([10, 20, 40], dayMs, start);
    const pace = forecastOf(31, start, { ratePerSecond: null, quotaAt: unlimited, warmingAt });
    expect([...secondsOf(pace), pace.limitedBy]).toEqual([0, 2 * 86_400, 'warming']);
  });

  it('has no end if a limit never ends', () => {
    const warmingAt: AllowanceAt = (time) =>
      time < start + dayMs ? { left: 5, endsAt: start + dayMs } : { left: 0, endsAt: Infinity };
    const pace = forecastOf(6, start, { ratePerSecond: null, quotaAt: unlimited, warmingAt });
    expect([...secondsOf(pace), pace.limitedBy]).toEqual([0, null, 'warming']);
    const none = forecastOf(6, start, {
      ratePerSecond: 1,
      quotaAt: periods(0, dayMs),
      warmingAt: unlimited,
    });
    expect([...secondsOf(none), none.limitedBy]).toEqual([null, null, 'daily-quota']);
  });

  it('is that of messages one after the other', () => {
    const allowed = fc
      .array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 5 })
      .map((list) => [...list, 7]);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 300 }),
        fc.constantFrom(null, 0.001, 0.01, 1, 50),
        ...[allowed, fc.constantFrom(dayMs, 3_600_000)],
        ...[allowed, fc.nat({ max: dayMs })],
        (count, ratePerSecond, quota, length, windows, offset) => {
          const quotaAt = periods(quota, length);
          const warmingAt = periods(windows, dayMs, offset);
          const used = new Map<string, number>();
          let [time, last] = [start, start];
          for (let sent = 0; sent < count; ) {
            const limits = { quota: quotaAt(time), warming: warmingAt(time) };
            const full = Object.entries(limits).find(
              ([name, { left, endsAt }]) => (used.get(`${name} ${endsAt}`) ?? 0) >= left,
            );
            if (full) {
              time = full[1].endsAt;
              continue;
            }
            for (const [name, { endsAt }] of Object.entries(limits)) {
              const key = `${name} ${endsAt}`;
              used.set(key, (used.get(key) ?? 0) + 1);
            }
            sent += 1;
            last = time;
            if (ratePerSecond !== null) time += 1_000 / ratePerSecond;
          }
          const pace = forecastOf(count, start, { ratePerSecond, quotaAt, warmingAt });
          expect(pace.lastAt).toBe(Math.round(last));
        },
      ),
      { numRuns: 300 },
    );
  });
});
