// Telling of changes without telling of each: the first at once, those that follow closely together.
import type { Clock } from '../runtime/clock.ts';

/** How often listeners of a store hear of changes. */
export const tellEachMs = 10;

/** Calls `action` at once, and once more after `ms` for all calls that came meanwhile. */
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
