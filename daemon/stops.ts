// The stop of the daemon: started parts register functions, which run in reverse order within the
// grace period.
import type { App } from '../src/core/app.ts';

/**
 * Registers a function that stops a started part. With `isEarly` it begins before all functions
 * without it.
 */
export type OnStop = (stop: (graceMs: number) => unknown, isEarly?: boolean) => void;

/**
 * Stops all parts within the same grace period, in sequence: time used by a part is missing
 * for the next. The queue begins early: a slow request leaves no less time to mail under way.
 */
export function stopsInReverse({ clock, config, log }: App): {
  onStop: OnStop;
  close(): Promise<void>;
} {
  const stops: { stop: Parameters<OnStop>[0]; isEarly: boolean }[] = [];
  return {
    onStop: (stop, isEarly = false) => void stops.push({ stop, isEarly }),
    async close() {
      const graceMs = config.shutdownGraceSeconds * 1000;
      const endAt = clock.elapsed() + graceMs;
      const ordered = stops
        .splice(0)
        .reverse()
        .map(({ stop, isEarly }) => {
          if (!isEarly) return stop;
          const begun = Promise.resolve(graceMs).then(stop);
          // The turn of this part reports the fault.
          begun.catch(() => {});
          return () => begun;
        });
      for (const stop of ordered) {
        try {
          await stop(Math.max(0, endAt - clock.elapsed()));
        } catch (error) {
          log.error({ err: error }, 'a part of the daemon did not stop in order');
        }
      }
    },
  };
}
