// Spreads synchronous work over turns of the event loop. SQLite answers at once, so the reads of many callers
// would otherwise run in one turn, and delay everything else by their sum.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Returns a function whose calls resolve in their order, one in each turn of the event loop. */
export function oneEachTurn(): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => nextTurn());
    return last;
  };
}
