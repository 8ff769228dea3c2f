// Keeps the process alive while a command waits for events: timers of the clock alone do not.
import type { App } from '../../src/core/app.ts';
import { sleep } from '../../src/platform/runtime/clock.ts';

/** Runs `work`, and keeps the process alive until it has ended. */
export async function keptAlive<T>(work: () => Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, 60_000);
  try {
    return await work();
  } finally {
    clearInterval(alive);
  }
}

export interface Wait<T> {
  /** Longest wait in milliseconds. */
  timeoutMs: number;
  /** Longest time between reads in ms, even without a reported commit. */
  longestPauseMs?: number;
  /** Tells whether the value ends the wait. */
  isEnough(found: T): boolean;
}

/**
 * Reads now and after each commit, until `isEnough` or until the time is over. Returns the last
 * value.
 */
export async function readUntil<T>(
  { clock, store }: App,
  { timeoutMs, longestPauseMs = Number.POSITIVE_INFINITY, isEnough }: Wait<T>,
  read: () => Promise<T>,
): Promise<T> {
  const startedAt = clock.now();
  let changed = new AbortController();
  const unsubscribe = store.onChange(() => changed.abort());
  const wait = async () => {
    for (;;) {
      changed = new AbortController();
      const found = await read();
      const left = timeoutMs - (clock.now() - startedAt);
      if (isEnough(found) || left <= 0) return found;
      await sleep(clock, Math.min(left, longestPauseMs), changed.signal);
    }
  };
  try {
    return await keptAlive(wait);
  } finally {
    unsubscribe();
  }
}
