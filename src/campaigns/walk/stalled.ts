// The gauge of stalled runs (`GET /metrics`). A stalled run is running and waits for no limit, yet
// made no message for 15 minutes. This should never happen. The daemon counts on a schedule apart
// from the walk.
import type { App } from '../../core/app.ts';
import { countStalledRuns } from '../../run-ledger/walk-queries.ts';

const stalledAfterMs = 15 * 60_000;
const measureEachMs = 30_000;

/** Counts stalled runs now. */
export function stalledRuns({ store, clock }: App): Promise<number> {
  return countStalledRuns(store.db, clock.now() - stalledAfterMs);
}

/** Starts to measure. Returns a function that stops it and waits for a measurement under way. */
export function startStalledGauge(app: App): () => Promise<void> {
  let isStopped = false;
  let cancel = () => {};
  const measure = async () => {
    try {
      app.metrics.campaignRunsStalled.set(await stalledRuns(app));
    } catch (error) {
      app.log.warn({ err: error }, 'stalled runs were not counted for /metrics: trying again');
    }
    if (isStopped) return;
    cancel = app.clock.after(measureEachMs, () => {
      running = measure();
    });
  };
  let running = measure();
  return async () => {
    isStopped = true;
    cancel();
    await running;
  };
}
