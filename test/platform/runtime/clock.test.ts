// Waiting by a clock.
import { expect, it } from 'vitest';
import { sleep } from '../../../src/platform/runtime/clock.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

it('an aborted sleep leaves no timer', async () => {
  const clock = virtualClock();
  const ending = new AbortController();
  const asleep = sleep(clock, 60_000, ending.signal);
  expect(clock.nextTimerAt()).toBe(clock.now() + 60_000);
  ending.abort();
  await asleep;
  expect(clock.nextTimerAt()).toBeUndefined();
});
