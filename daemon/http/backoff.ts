// How long those are told to wait who are refused for want of capacity: each second that it lasts is
// a second more, so that who obeys comes back at ever longer intervals (specification 7: 503).
import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';

const longestBaseSeconds = 15;

/**
 * Returns a function for each refusal to ask: whole seconds, 1 at first, up to 29. Spread at random
 * over the base and as much again: who was refused together should not come back together. Begins
 * anew after nobody was refused for twice the longest wait.
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
