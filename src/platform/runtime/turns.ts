// Spreads synchronous work over turns of the event loop. SQLite answers synchronously, so the reads
// of many callers would otherwise all run in one turn, and delay everything else by their sum.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Returns a function whose calls resolve in order, one in each turn of the event loop. */
export function oneEachTurn(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => nextTurn());
    return last;
  };
}
