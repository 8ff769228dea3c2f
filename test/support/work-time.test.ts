// The measure of work for tests with a bound: work counts, collections of the whole heap do not.
import { expect, it } from 'vitest';
import { coreMs, liveBytes, startWork, workedMs } from './work-time.ts';

it('leaves collections of the whole heap out of the work', () => {
  const kept = Array.from({ length: 500_000 }, (_, index) => ({ index }));
  const start = startWork();
  while (coreMs(start.usage) < 200) liveBytes();
  expect(workedMs(start)).toBeLessThan(15);
  expect(kept).toHaveLength(500_000);
});

it('a loop is work', () => {
  const start = startWork();
  while (coreMs(start.usage) < 15);
  expect(workedMs(start)).toBeGreaterThan(10);
});
