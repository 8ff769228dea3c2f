// The source of time for the whole service: `systemClock` in production, a virtual clock in tests
// (test/support/virtual-clock.ts). In src and daemon only this file calls Date.now and setTimeout.

/** Source of time. All values are milliseconds; `now` is since 1970, UTC. */
export interface Clock {
  /** Wall clock, for stored or shown times. People and NTP may set it in both directions. */
  now(): number;
  /** Steady clock with an arbitrary start, for measurements in the process. */
  elapsed(): number;
  /**
   * Calls `run` once after `delayMs`; the returned function cancels this. Never keeps the process
   * alive.
   */
  after(delayMs: number, run: () => void): () => void;
  /**
   * Exists only on a clock that is advanced (standing-clock.ts), which waits for the work that
   * joined.
   */
  join?(work: JoinedWork): () => void;
}

/** Work that falls due by the wall clock. */
export interface JoinedWork {
  /**
   * Resolves once nothing is due at the present time. `isLast`: at the end of an advance. Returns
   * whether anything was done since the last call.
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

/**
 * Resolves as `work` does. @throws the error of `late` after `ms`; the result of `work` is then
 * ignored
 */
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

/** Cache of formatted times: an answer or a batch repeats a few times. */
const written = new Map<number, string>();
const mostWritten = 64;

/** Formats as ISO 8601 in UTC with milliseconds; returns null for null. */
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
