// The source of time for the whole service: `systemClock` in production, a virtual clock in tests
// (test/support/virtual-clock.ts). In src and daemon only this file calls Date.now and setTimeout.

/** Source of time. All values are milliseconds; `now` is since 1970, UTC. */
export interface Clock {
  /** Wall clock, for stored or shown times. People and NTP may set it in both directions. */
  now(): number;
  /** Steady clock with an arbitrary start, for measurements in the process. */
  elapsed(): number;
  /**
   * Calls `run` once after `delayMs`. Returns a function that cancels the call. The timer does not
   * keep the process alive.
   */
  after(delayMs: number, run: () => void): () => void;
  /**
   * Exists only on a virtual clock that is advanced on request (standing-clock.ts): before each
   * step, the clock waits for the work that joined. Returns a function that withdraws the work.
   */
  join?(work: JoinedWork): () => void;
}

/** Work that becomes due by the wall clock, such as a queue. */
export interface JoinedWork {
  /**
   * Resolves once no work is due at the present time: with true if work was done since the last
   * call. `isLast`: at the end of an advance.
   */
  settle(isLast: boolean): Promise<boolean>;
  /** Returns the next due time, as of the last `settle`; Infinity without due work. */
  nextAt(): number;
}

const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.max(0, Math.min(delayMs, longestTimerMs)));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Resolves after `delayMs`, or at once if `signal` aborts; never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const cancel = clock.after(delayMs, finish);
    function finish() {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }
    function onAbort() {
      cancel();
      resolve();
    }
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Resolves as `work` does. After `ms`, rejects with the error of `late`, and ignores `work`. */
export async function within<T>(
  clock: Clock,
  ms: number,
  work: Promise<T>,
  late: () => Error,
): Promise<T> {
  const over = Promise.withResolvers<never>();
  const cancel = clock.after(ms, () => over.reject(late()));
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    cancel();
  }
}

/** Cache of formatted times, because the rows of an answer share a few times. */
const written = new Map<number, string>();
const mostWritten = 64;

/** Formats ms since 1970 as ISO 8601 in UTC with milliseconds; returns null for null. */
export function isoTime(ms: number): string;
export function isoTime(ms: number | null): string | null;
export function isoTime(ms: number | null): string | null {
  if (ms === null) return null;
  let text = written.get(ms);
  if (text === undefined) {
    text = new Date(ms).toISOString();
    if (written.size >= mostWritten) written.clear();
    written.set(ms, text);
  }
  return text;
}
