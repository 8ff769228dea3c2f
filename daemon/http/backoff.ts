// Retry-After for requests refused for lack of capacity. It grows by a second for each second of
// refusals, so that well-behaved clients return at ever longer intervals (specification 7: 503).
import type { Clock } from '../../src/platform/runtime/clock.ts';
import type { Random } from '../../src/platform/runtime/random.ts';

const longestBaseSeconds = 15;

/**
 * Returns a function to call for each refusal. It returns whole seconds, at random between a base
 * and twice the base, so that clients refused together do not return together. The base grows from
 * 1 to 29. It starts again after a time without refusals of twice the longest wait.
 */
export function createBackoff(clock: Clock, random: Random): () => number {
  let startedAt = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let baseSeconds = 1;
  return () => {
    const now = clock.elapsed();
    const calmMs = 4 * baseSeconds * 1000;
    if (now - lastAt > calmMs) startedAt = now;
    lastAt = now;
    const lastedSeconds = Math.floor((now - startedAt) / 1000);
    baseSeconds = Math.min(longestBaseSeconds, Math.max(1, lastedSeconds));
    return Math.floor(baseSeconds * (1 + random.float()));
  };
}
