// The stop of the daemon: started parts register functions, which run in reverse order within the
// grace period.
import type { App } from '../src/core/app.ts';

/**
 * Registers a function that stops a started part. Early functions (`isEarly`) begin before all
 * remaining functions.
 */
export type OnStop = (stop: (graceMs: number) => unknown, isEarly?: boolean) => void;

/**
 * Stops all parts in sequence within a single grace period: time that a part uses is lost for the
 * next part. The queue begins early, so that a slow request does not shorten the time for mail in
 * flight.
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
          // Prevents an unhandled rejection: the loop below awaits this stop later, and logs the
          // error.
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
