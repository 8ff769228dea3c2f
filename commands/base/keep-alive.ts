// Keeps the process alive while a command waits for events: timers of the clock alone do not.
import type { Wait } from '../../src/platform/store/changes/read-until.ts';
import type { Session } from './asking.ts';

/** Time between two reads at a server, in ms. */
const pauseMs = 500;

/** Runs `work`, and keeps the process alive until it has ended. */
export async function keptAlive<T>(work: () => Promise<T>): Promise<T> {
  const alive = setInterval(() => {}, 60_000);
  try {
    return await work();
  } finally {
    clearInterval(alive);
  }
}

/**
 * Reads again after each change of the store, or twice a second at a server, until `isEnough`
 * accepts the value or the time is over. Returns the last value. Keeps the process alive meanwhile.
 */
export function readUntil<T>(
  { local }: Session,
  wait: Pick<Wait<T>, 'timeoutMs' | 'isEnough'>,
  read: () => Promise<T>,
): Promise<T> {
  return keptAlive(async () => {
    if (local) {
      const { readStoreUntil } = await import('../../src/platform/store/changes/read-until.ts');
      return readStoreUntil(local.app, wait, read);
    }
    const { sleep, systemClock } = await import('../../src/platform/runtime/clock.ts');
    const endsAt = systemClock.elapsed() + wait.timeoutMs;
    for (;;) {
      const found = await read();
      const leftMs = endsAt - systemClock.elapsed();
      if (wait.isEnough(found) || leftMs <= 0) return found;
      await sleep(systemClock, Math.min(pauseMs, leftMs));
    }
  });
}
