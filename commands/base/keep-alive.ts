// Keeps the process alive while a command waits for events: the timers of the clock do not.
import type { App } from '../../src/core/app.ts';
import { readStoreUntil, type Wait } from '../../src/platform/store/changes/read-until.ts';

/** Runs `work`, and keeps the process alive until it has ended. */
export async function keptAlive<T>(work: () => Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, 60_000);
  try {
    return await work();
  } finally {
    clearInterval(alive);
  }
}

/** Reads the store as `readStoreUntil`, and keeps the process alive meanwhile. */
export function readUntil<T>(app: App, wait: Wait<T>, read: () => Promise<T>): Promise<T> {
  return keptAlive(() => readStoreUntil(app, wait, read));
}
