// Requests that wait for events, for routes that declare it (`waits` of src/core/api/route.ts). A
// waiting request does not count as work (workload.ts).
//
//   an open wait ends when                                         the client gets
//   the route answers                                              the answer
//   the client disconnects                                         nothing
//   the daemon stops                                               503
//   a new wait needs space in a full pool, and this organization   503
//   has the most waits
import type { ServerResponse } from 'node:http';
import { CapacityError } from '../../../src/platform/errors.ts';
import { SharedPool } from '../../../src/platform/runtime/fairness/shared-pool.ts';

/** Most waits at a time, of all organizations together. */
const mostWaits = 100;
const retryAfterSeconds = 5;

export interface Waits {
  /**
   * Runs `work` if the share of `holder`, an organization, allows a further wait. `signal` aborts
   * when the wait must end.
   * @throws CapacityError beyond the share of the holder.
   */
  run<T>(
    holder: string,
    response: ServerResponse,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** Ends all waits. */
  stop(): void;
}

export function createWaits(): Waits {
  const pool = new SharedPool(mostWaits);
  const open = new Set<AbortController>();
  return {
    async run(holder, response, work) {
      const ending = new AbortController();
      const end = () => ending.abort();
      const place = pool.enter({ holder, pace: () => Number.POSITIVE_INFINITY, evict: end });
      if (!place) throw crowded();
      open.add(ending);
      response.once('close', end);
      try {
        return await work(ending.signal);
      } finally {
        response.off('close', end);
        open.delete(ending);
        place.leave();
      }
    },
    stop() {
      for (const ending of open) ending.abort();
    },
  };
}

function crowded(): CapacityError {
  const text = 'Too many requests of your organization wait for events: end one';
  return new CapacityError(text, retryAfterSeconds, { reason: 'capacity-streams' });
}
