// Seals the logs of a daemon while it runs. Seals an organization once it has 2,048 new events or
// the first new event is ten seconds old; and all organizations at each sweep, for the events of
// other processes. A seal costs a signature and a few tiles, so that many events share a seal.
//
// state   | event                                    | then
// --------+------------------------------------------+-------------------------------------------------
// idle    | an event is recorded                     | waiting, ten seconds
// waiting | an organization has 2,048 new events     | waiting, a second at most
// waiting | seal due, during a burst of sends or of  | waiting, a second: for a minute at most, and while
//         | received mail                            | memory has the hashes
// waiting | seal due                                 | sealing
// sealing | done, and no organization had new events  | idle
// sealing | done                                     | waiting, ten seconds: an event may have been
//         |                                          | recorded and not committed
// any     | `stop`                                   | ended, once the running seal ends
import type { App } from '../core/app.ts';
import { freshEvents, mostHashes } from '../history/events/fresh.ts';
import { nextUnsealed } from '../history/events/unsealed-queries.ts';
import { sliceTurns } from '../platform/runtime/fairness/loop-turns.ts';
import { sealLog } from './seal.ts';
import { tileSize } from './tree.ts';

const restMs = 10_000;
const soonMs = 1_000;
const longestBurstMs = 60_000;
const soonFrom = 8 * tileSize;

export interface Sealer {
  start(): void;
  /** Seals the events of all organizations, including events of other processes. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

/** Creates the sealer of a daemon. `isPressing` tells whether a burst of mail is under way. */
export function createSealer(app: App, isPressing: () => boolean = () => false): Sealer {
  const fresh = freshEvents(app);
  let isStopped = false;
  let cancel: (() => void) | null = null;
  let isSoon = false;
  let running = Promise.resolve();
  let isRunning = false;
  /** Time of the earliest unsealed event, by `clock.elapsed`. */
  let since = 0;

  const mayYield = () =>
    app.clock.elapsed() - since < longestBurstMs && fresh.size < mostHashes / 2;

  const seal = async (organizationId: string) => {
    if (isStopped) return;
    try {
      await sliceTurns('seal events', organizationId);
      await sealLog(app, organizationId);
    } catch (error) {
      app.log.error({ err: error, organizationId }, 'events could not be sealed');
    }
  };

  const sealFresh = async () => {
    const counts = fresh.takeCounts();
    for (const organizationId of counts.keys()) await seal(organizationId);
    for (const [organizationId, count] of counts) if (count > 0) fresh.count(organizationId, 0);
  };

  const run = () => {
    cancel = null;
    isSoon = false;
    if (isRunning) return wait(restMs);
    if (isPressing() && mayYield()) return wait(soonMs);
    isRunning = true;
    running = sealFresh()
      .catch((error: unknown) => app.log.error({ err: error }, 'events could not be sealed'))
      .then(() => {
        isRunning = false;
      });
  };

  const wait = (ms: number) => {
    cancel?.();
    cancel = isStopped ? null : app.clock.after(ms, run);
  };

  return {
    start() {
      fresh.onCount = (count) => {
        if (cancel === null) since = app.clock.elapsed();
        if (count >= soonFrom && !isSoon) {
          isSoon = true;
          wait(soonMs);
        } else if (cancel === null) wait(restMs);
      };
    },
    async sweep() {
      let id = await nextUnsealed(app.store.db, '');
      while (id !== undefined && !isStopped) {
        await seal(id);
        id = await nextUnsealed(app.store.db, id);
      }
    },
    async stop() {
      isStopped = true;
      cancel?.();
      fresh.onCount = null;
      await running;
    },
  };
}
