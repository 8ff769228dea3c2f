// The retry schedule alone: the delay after each attempt, and its jitter.
import { describe, expect, it } from 'vitest';
import { expiryOf, maxAttempts, retryDelayMs } from '../../../src/outbound/queue/settling/retry.ts';

const schedule = { scheduleMinutes: [1, 5, 30], maxAgeHours: 2 };
const minuteMs = 60_000;

describe('the delay of a retry', () => {
  it.each([
    ['the first', 1, 1],
    ['the second', 2, 5],
    ['the third', 3, 30],
    ['a late one, repeating the last', 9, 30],
  ])('after %s is the configured one', (_, attempts, minutes) => {
    expect(retryDelayMs(schedule, attempts, 0.5)).toBe(minutes * minuteMs);
  });

  it('has a jitter of a tenth to either side', () => {
    expect(retryDelayMs(schedule, 2, 0)).toBe(4.5 * minuteMs);
    expect(retryDelayMs(schedule, 2, 1)).toBe(5.5 * minuteMs);
  });
});

it('a message ends at its maximum age with a last attempt', () => {
  expect(expiryOf(schedule, 1_000)).toBe(1_000 + 120 * minuteMs);
  // Attempts at 0, 1, 6, 36, 66, 96 and 120 minutes.
  expect(maxAttempts(schedule)).toBe(7);
});
