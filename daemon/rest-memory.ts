// Returns memory to the system while the daemon rests. V8 collects when the heap grows, so a daemon
// that is idle after the start, or after a burst, would keep about 30 MB of garbage for ever.
import type { Clock } from '../src/platform/runtime/clock.ts';

const lookEveryMs = 10_000;
/** Idle checks in a row before a collection: a short pause between two bursts causes none. */
const idleLooks = 2;
/** Growth since the last collection that is worth a new collection, which takes 0.1 s. */
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

/** Collects garbage whenever the daemon has become idle. Returns a function that stops it. */
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
