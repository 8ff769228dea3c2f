// Whether the event loop keeps requests waiting for so long that new ones should not be let in
// (specification 7: 503). What measures the delay is given, so that a test needs to burn no core.
import { type Clock, systemClock } from '../../src/runtime/clock.ts';

export interface LoopDelay {
  /**
   * How long, in ms, something that came since the last call had to wait for its turn, on average
   * over the moments at which it could have come: one long stall weighs as much as it lasted.
   */
  read(): number;
  stop(): void;
}

const probeEveryMs = 50;

/**
 * Measures by a timer that looks how late it is: 20 times a second, a few µs each. The histogram of
 * node:perf_hooks forgets the turn in which it is reset, which in an overload is every turn.
 */
export function measureLoopDelay(): LoopDelay {
  let lastMs = systemClock.elapsed();
  let timeMs = 0;
  let weightedMs = 0;
  const look = () => {
    const nowMs = systemClock.elapsed();
    const turnMs = nowMs - lastMs;
    lastMs = nowMs;
    timeMs += turnMs;
    weightedMs += turnMs * Math.max(0, turnMs - probeEveryMs);
  };
  const probe = () => {
    look();
    cancel = systemClock.after(probeEveryMs, probe);
  };
  let cancel = systemClock.after(probeEveryMs, probe);
  return {
    read() {
      // The turn that is under way may be the long one.
      look();
      const meanMs = timeMs === 0 ? 0 : weightedMs / timeMs;
      timeMs = 0;
      weightedMs = 0;
      return meanMs;
    },
    stop: () => cancel(),
  };
}

/** A request of ours takes 10 to 20 turns of the loop; the rest of its time is the store's. */
const turnsWithinTimeLimit = 60;
/** A loaded daemon has 20 to 60 ms, a large collection of garbage 100: no reason to refuse anybody. */
const leastLimitMs = 200;
const windowMs = 1_000;
/** One stall, however long, is over when it is seen: only windows in a row count. */
const windowsInARow = 2;

/** The delay at which requests of this time limit cannot end in time any more: 500 ms for 30 s. */
export function loopDelayLimitMs(timeoutSeconds: number): number {
  return Math.max(leastLimitMs, (timeoutSeconds * 1000) / turnsWithinTimeLimit);
}

/**
 * Returns a function for each new request to ask: true from the second window of a second or more
 * with a delay beyond the limit, until a window stays below half of it. Keeps no timer: who asks
 * ends the window.
 */
export function watchEventLoop(clock: Clock, delay: LoopDelay, limitMs: number): () => boolean {
  let windowStartedAt = clock.elapsed();
  let badWindows = 0;
  let isOverloaded = false;
  return () => {
    const now = clock.elapsed();
    if (now - windowStartedAt >= windowMs) {
      windowStartedAt = now;
      const delayMs = delay.read();
      badWindows = delayMs > limitMs ? badWindows + 1 : 0;
      if (badWindows >= windowsInARow) isOverloaded = true;
      else if (delayMs < limitMs / 2) isOverloaded = false;
    }
    return isOverloaded;
  };
}
