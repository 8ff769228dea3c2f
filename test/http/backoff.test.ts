// Retry-After of requests that are refused for want of capacity.
import { expect, it } from 'vitest';
import { createBackoff } from '../../daemon/http/backoff.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { virtualClock } from '../support/virtual-clock.ts';

it('a second at first, then longer, spread over as much again; after a calm a second again', async () => {
  const clock = virtualClock();
  const waitSeconds = createBackoff(clock, seededRandom(1));
  const some = () => new Set(Array.from({ length: 500 }, waitSeconds));
  expect(some()).toEqual(new Set([1]));
  for (let second = 0; second < 10; second++) {
    await clock.advance(1_000);
    waitSeconds();
  }
  expect([...some()].sort((a, b) => a - b)).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  for (let second = 0; second < 60; second++) {
    await clock.advance(1_000);
    waitSeconds();
  }
  const waits = some();
  expect([Math.min(...waits), Math.max(...waits)]).toEqual([15, 29]);
  await clock.advance(60_001);
  expect(some()).toEqual(new Set([1]));
});
