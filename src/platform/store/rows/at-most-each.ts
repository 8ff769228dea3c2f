// Throttles notifications of changes: sends the first at once, and merges later notifications.
import type { Clock } from '../../runtime/clock.ts';

/** Shortest time between two notifications of a store's listeners. */
export const reportEachMs = 10;

/**
 * Returns a function that calls `action` at once. Calls within the next `ms` are merged into a
 * single call at their end.
 */
export function atMostEach(clock: Clock, ms: number, action: () => void): () => void {
  let isQuiet = true;
  let isCalled = false;
  const rest = () => {
    isQuiet = !isCalled;
    if (isQuiet) return;
    isCalled = false;
    clock.after(ms, rest);
    action();
  };
  return () => {
    if (!isQuiet) {
      isCalled = true;
      return;
    }
    isQuiet = false;
    clock.after(ms, rest);
    action();
  };
}
