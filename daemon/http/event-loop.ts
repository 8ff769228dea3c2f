// Detects an event loop too slow to admit new requests (specification 7: 503), and reports the
// operation that blocked it. Tests pass a fake meter of the delay, so that they need not burn a
// core.
import type { App } from '../../src/core/app.ts';
import { type Clock, systemClock } from '../../src/platform/runtime/clock.ts';
import { operationSince } from '../../src/platform/runtime/fairness/loop-turns.ts';

export interface LoopDelay {
  /**
   * Returns the average delay in ms before work gets a turn, for the time since the last call. The
   * average is over time: a long stall weighs as much as it lasted.
   */
  read(): number;
  stop(): void;
}

/** A delay that is measured, and whose stalls are reported. */
interface LoopMeter extends LoopDelay {
  /** Reports stalls from now on: the start blocks for a second, but before the first request. */
  reportTo(onStall: OnStall): void;
}

const probeEveryMs = 50;
/** Shortest stall that is reported: two turns of work. */
const reportFromMs = 100;
/** Stalls longer than this are logged. */
const logFromMs = 500;

/** Receives each stall of the event loop, with the last operation that began before its end. */
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
 * Measures by a timer that compares the due time with the actual time: 20 times a second, a few µs
 * each. The histogram of node:perf_hooks loses the turn in which it is reset, and in an overload
 * that is every turn.
 */
export function measureLoopDelay(): LoopMeter {
  let onStall: OnStall = () => {};
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
      // Measures now, as the current turn may be the long stall.
      look();
      const meanMs = timeMs === 0 ? 0 : weightedMs / timeMs;
      timeMs = 0;
      weightedMs = 0;
      return meanMs;
    },
    reportTo(report) {
      look();
      onStall = report;
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
 * Delay that never counts as overload. A loaded daemon has 20 to 60 ms, a large garbage collection
 * takes 100 ms.
 */
const leastLimitMs = 200;
const windowMs = 1_000;
/** Consecutive slow windows that count as overload. A single stall is over when it is noticed. */
const windowsInARow = 2;

/**
 * Returns the delay beyond which requests cannot meet this time limit: 500 ms for a limit of 30 s.
 */
export function loopDelayLimitMs(timeoutSeconds: number): number {
  return Math.max(leastLimitMs, (timeoutSeconds * 1000) / turnsWithinTimeLimit);
}

/**
 * Returns a function to call for each new request; it returns true during an overload. An overload
 * begins with the second slow window in sequence (a second or more), and ends with a window below
 * half of the limit. No timer runs: the calls end the window.
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
