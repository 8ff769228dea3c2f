// The queue of a daemon that can be drained before the stop (`svc daemon drain`).
import type { Pipeline } from '../src/outbound/queue/loop.ts';

/** The queue of a daemon, which stops once: by a drain, or by the stop of the daemon. */
export interface DrainableQueue extends Pick<Pipeline, 'isRunning' | 'load'> {
  isDraining(): boolean;
  /** Stops the queue. Mail that is under way after `graceMs` is requeued. */
  drain(graceMs: number): Promise<void>;
}

/** Lets a queue stop once, by the first caller. */
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
