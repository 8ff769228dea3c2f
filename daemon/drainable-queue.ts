// The queue of a daemon that can be drained before the stop (`svc daemon drain`).
import type { Pipeline } from '../src/outbound/queue/loop.ts';

/** The queue of a daemon. It stops once: by a drain, or when the daemon stops. */
export interface DrainableQueue extends Pick<Pipeline, 'isRunning' | 'load'> {
  isDraining(): boolean;
  /** Stops the queue. Requeues mail whose attempt lasts longer than `graceMs`. */
  drain(graceMs: number): Promise<void>;
}

/** Makes a queue stop only once, at the first call. */
export function drainable(pipeline: Pipeline): DrainableQueue {
  let stopping: Promise<void> | null = null;
  return {
    isRunning: pipeline.isRunning,
    load: pipeline.load,
    isDraining: () => stopping !== null,
    drain(graceMs) {
      stopping ??= pipeline.stop(graceMs);
      return stopping;
    },
  };
}
