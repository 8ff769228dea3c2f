// Detects an event loop too slow to admit new requests (specification 7: 503), and reports what
// held it. The meter of the delay is a parameter, so that a test does not have to burn a core.
import type { App } from '../../src/core/app.ts';
import { type Clock, systemClock } from '../../src/platform/runtime/clock.ts';
import { operationSince } from '../../src/platform/runtime/fairness/loop-turns.ts';

export interface LoopDelay {
  /**
   * Returns the delay in ms that work since the last call had to wait for a turn, averaged over
   * time: a long stall weighs as much as it lasted.
   */
  read(): number;
  stop(): void;
}

const probeEveryMs = 50;
/** Shortest stall that is reported: two turns of work. */
const reportFromMs = 100;
/** Stalls longer than this are logged. */
const logFromMs = 500;

/** Gets each stall of the event loop, with the operation that was last begun before the end. */
export type OnStall = (stallMs: number, operation: string) => void;

/** Returns a function that records stalls in the metric, and long stalls in the log. */
export function stallReporter({
  metrics,
  log,
}: Pick<App, 'metrics'> & { log: Pick<App['log'], 'warn'> }): OnStall {
  return (stallMs, operation) => {
    metrics.stallSeconds.observe({ operation }, stallMs / 1_000);
    if (stallMs <= logFromMs) return;
    log.warn({ operation, stallMs: Math.round(stallMs) }, 'the event loop was held too long');
  };
}

/**
 * Measures by a timer that checks how late it is: 20 times a second, a few µs each. The histogram
 * of node:perf_hooks loses the turn in which it is reset, which in an overload is every turn.
 */
export function measureLoopDelay(onStall: OnStall = () => {}): LoopDelay {
  let lastMs = systemClock.elapsed();
  let timeMs = 0;
  let weightedMs = 0;
  const look = () => {
    const nowMs = systemClock.elapsed();
    const turnMs = nowMs - lastMs;
    const stallMs = turnMs - probeEveryMs;
    if (stallMs >= reportFromMs) onStall(stallMs, operationSince(lastMs));
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
      // The current turn may be the long stall.
      look();
      const meanMs = timeMs === 0 ? 0 : weightedMs / timeMs;
      timeMs = 0;
      weightedMs = 0;
      return meanMs;
    },
    stop: () => cancel(),
  };
}

/**
 * Turns of the loop that must fit within the time limit of a request. A request takes 10 to 20; the
 * store uses the rest of the time.
 */
const turnsWithinTimeLimit = 60;
/**
 * Delay that never counts as overload: a loaded daemon has 20 to 60 ms, a large garbage collection
 * 100.
 */
const leastLimitMs = 200;
const windowMs = 1_000;
/** Slow windows in a row that count as overload: a single stall is over when it is noticed. */
const windowsInARow = 2;

/**
 * Returns the delay at which requests can no longer meet this time limit: 500 ms for a limit of 30
 * s.
 */
export function loopDelayLimitMs(timeoutSeconds: number): number {
  return Math.max(leastLimitMs, (timeoutSeconds * 1000) / turnsWithinTimeLimit);
}

/**
 * Returns a function to call for each new request. It returns true from the second window of a
 * second or more with a delay beyond the limit, until a window stays below half of it. It has no
 * timer: calls end the window.
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
