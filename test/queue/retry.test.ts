// The retry schedule by itself: which delay follows which attempt, and how far it strays.
import { describe, expect, it } from 'vitest';
import { expiryOf, maxAttempts, retryDelayMs } from '../../src/queue/retry.ts';
import type { Random } from '../../src/runtime/random.ts';

const schedule = { scheduleMinutes: [1, 5, 30], maxAgeHours: 2 };
const minuteMs = 60_000;

/** A source that always says the same. */
function always(float: number): Random {
  return { float: () => float, bytes: (count) => new Uint8Array(count) };
}

describe('the delay after an attempt', () => {
  it.each([
    ['the first', 1, 1],
    ['the second', 2, 5],
    ['the third', 3, 30],
    ['the last is repeated', 9, 30],
  ])('%s', (_, attempts, minutes) => {
    expect(retryDelayMs(schedule, attempts, always(0.5))).toBe(minutes * minuteMs);
  });

  it('strays by a tenth to either side', () => {
    expect(retryDelayMs(schedule, 2, always(0))).toBe(4.5 * minuteMs);
    expect(retryDelayMs(schedule, 2, always(1))).toBe(5.5 * minuteMs);
  });
});

it('a message is given up at its age, with a last attempt then', () => {
  expect(expiryOf(schedule, 1_000)).toBe(1_000 + 120 * minuteMs);
  // At 0, 1, 6, 36, 66, 96 and 120 minutes.
  expect(maxAttempts(schedule)).toBe(7);
});
