// Reads the store again after each commit until the result is sufficient.
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Store } from '../db.ts';

export interface Wait<T> {
  /** Longest wait in milliseconds. */
  timeoutMs: number;
  /** Longest time between two reads in ms, even without a reported commit. */
  longestPauseMs?: number;
  /** Least time between two reads in ms (default: none). */
  eachMs?: number;
  /** Ends the wait early. */
  signal?: AbortSignal | undefined;
  /** Tells whether the value ends the wait. */
  isEnough(found: T): boolean;
}

/** Least pause after a read if `eachMs` is set, as a multiple of the duration of the read. */
const restFactor = 10;

/**
 * Reads now and after each commit, until `isEnough`, the time-out or the abort. Returns the last
 * value.
 */
export async function readStoreUntil<T>(
  { clock, store }: { clock: Clock; store: Store },
  { timeoutMs, longestPauseMs = Number.POSITIVE_INFINITY, eachMs = 0, signal, isEnough }: Wait<T>,
  read: () => Promise<T>,
): Promise<T> {
  const startedAt = clock.now();
  let changed = new AbortController();
  const wake = () => changed.abort();
  const unsubscribe = store.onChange(wake);
  signal?.addEventListener('abort', wake);
  try {
    for (;;) {
      changed = new AbortController();
      const began = clock.elapsed();
      const found = await read();
      const restMs = eachMs === 0 ? 0 : Math.max(eachMs, restFactor * (clock.elapsed() - began));
      const left = timeoutMs - (clock.now() - startedAt);
      if (isEnough(found) || left <= 0 || signal?.aborted) return found;
      await sleep(clock, Math.min(left, longestPauseMs), changed.signal);
      const remaining = timeoutMs - (clock.now() - startedAt);
      if (restMs > 0) await sleep(clock, Math.min(restMs, Math.max(0, remaining)), signal);
    }
  } finally {
    unsubscribe();
    signal?.removeEventListener('abort', wake);
  }
}
