// Retry-After of requests refused for lack of capacity.
import { expect, it } from 'vitest';
import { createBackoff } from '../../daemon/http/workload.ts';
import { seededRandom } from '../../src/platform/runtime/random.ts';
import { virtualClock } from '../support/virtual-clock.ts';

it('the backoff starts at a second, grows with a spread, and restarts after a calm period', async () => {
  const clock = virtualClock();
  const waitSeconds = createBackoff(clock, seededRandom(1));
  const sample = () => new Set(Array.from({ length: 500 }, waitSeconds));
  expect(sample()).toEqual(new Set([1]));
  for (let second = 0; second < 10; second++) {
    await clock.advance(1_000);
    waitSeconds();
  }
  expect([...sample()].sort((a, b) => a - b)).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  for (let second = 0; second < 60; second++) {
    await clock.advance(1_000);
    waitSeconds();
  }
  const waits = sample();
  expect([Math.min(...waits), Math.max(...waits)]).toEqual([15, 29]);
  await clock.advance(60_001);
  expect(sample()).toEqual(new Set([1]));
});
