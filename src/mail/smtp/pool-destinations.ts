// Functions over all destinations of the pool (pool.ts): the next request, the oldest idle session,
// and the limits.
import type { FairShare } from '../../platform/runtime/fairness/fair-share.ts';
import { type Destination, firstWaiter, hasRoom, type Waiter } from './pool-destination.ts';

/** Tells whether a request waits although the destination is below the limit of connections. */
export function isAnyHeldBack(destinations: Iterable<Destination>): boolean {
  for (const { waiters, open, limits } of destinations) {
    if (waiters.length > 0 && open < limits.connections) return true;
  }
  return false;
}

/** Returns the number of excess connections by name, for destinations above the limit. */
export function surplusOf(destinations: Iterable<Destination>): Record<string, number> {
  const above = [...destinations].flatMap(({ name, open, limits }) =>
    open > limits.connections ? [[name, open - limits.connections] as const] : [],
  );
  return Object.fromEntries(above);
}

/**
 * Returns the first destination with an idle session. Destinations are sorted by the time of their
 * last idle session, so the oldest session is first.
 */
export function destinationWithOldestIdle(destinations: Iterable<Destination>): Destination | null {
  for (const destination of destinations) if (destination.idle.length > 0) return destination;
  return null;
}

/** Returns the oldest waiting request that the limits and the organization's share allow. */
export function nextWaiter(
  destinations: Iterable<Destination>,
  inUse: FairShare,
): { destination: Destination; waiter: Waiter } | null {
  let best: { destination: Destination; waiter: Waiter } | null = null;
  for (const destination of destinations) {
    if (destination.waiters.length === 0 || !hasRoom(destination)) continue;
    const waiter = firstWaiter(destination, inUse);
    if (waiter && (!best || waiter.ticket < best.waiter.ticket)) best = { destination, waiter };
  }
  return best;
}
