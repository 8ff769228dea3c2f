// Returns memory to the system while the daemon is idle. V8 collects garbage only when the heap
// grows, so after the start or a burst an idle daemon would keep about 30 MB of garbage for ever.
import type { Clock } from '../src/platform/runtime/clock.ts';

const lookEveryMs = 10_000;
/** Consecutive idle checks before a collection. So a short pause between two bursts causes none. */
const idleLooks = 2;
/** Least growth since the last collection for a new collection, which takes 0.1 s. */
const worthBytes = 16_000_000;

export interface RestMemoryOptions {
  clock: Clock;
  /** Tells whether the daemon has work now. */
  isBusy(): boolean;
  /** Collects all garbage; undefined in a process without `--expose-gc` (bin/svc sets it). */
  collect?: (() => unknown) | undefined;
  /** Returns the resident bytes of the process. */
  resident?: () => number;
}

function collectAll(): unknown {
  return globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'async' });
}

/**
 * Collects garbage when two checks in a row find the daemon idle and memory has grown by 16 MB.
 * Does nothing without `collect`. Returns a function that stops the checks.
 */
export function releaseMemoryAtRest(options: RestMemoryOptions): () => void {
  const { clock, isBusy, collect = globalThis.gc && collectAll } = options;
  const { resident = () => process.memoryUsage.rss() } = options;
  if (collect === undefined) return () => {};
  let idle = 0;
  let floorBytes = 0;
  let cancel = () => {};
  const look = async () => {
    idle = isBusy() ? 0 : idle + 1;
    if (idle >= idleLooks && resident() > floorBytes + worthBytes) {
      await collect();
      floorBytes = resident();
    }
    schedule();
  };
  const schedule = () => {
    cancel = clock.after(lookEveryMs, () => void look());
  };
  schedule();
  return () => {
    cancel();
    cancel = () => {};
  };
}
