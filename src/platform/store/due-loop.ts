// A loop over rows that fall due. It runs `step` until nothing is due, then sleeps until the time
// that the step returned, a change in the store, or `wake`. The step knows the rows and the work.
//
// state    | event                                              | then
// ---------+----------------------------------------------------+---------------------------------
// stepping | the step returns 0                                 | stepping
// stepping | it returns a time; commit or `wake` came meanwhile | stepping
// stepping | it returns a time                                  | sleeping until then, a minute at
// most
// stepping | it throws, which is logged                         | sleeping for a second
// sleeping | its time, a commit by any process, `wake`          | stepping
// any      | `stop`                                             | ended, once the running step ends
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Store } from './db.ts';

/** Longest sleep without a due time or a change. */
const longestSleepMs = 60_000;
const troublePauseMs = 1_000;

/** Part of the App that the loop needs. */
export interface LoopSurroundings {
  clock: Clock;
  log: Pick<Logger, 'error'>;
  store: Pick<Store, 'onChange'>;
}

export interface DueLoopParts {
  /**
   * Processes due rows, all or some of them. Returns the next due time in ms since 1970: 0 if more may be
   * due now, Infinity if no time is known.
   */
  step(): Promise<number>;
  /** Log message for a step that throws. */
  trouble: string;
  /** Tells whether all work that the steps began has ended; asked before each sleep, for `idle`. */
  isQuiet?: () => boolean;
}

export interface DueLoop {
  start(): void;
  /** Runs the step again, now or as soon as the running step has ended. */
  wake(): void;
  /**
   * Resolves before a sleep in which nothing is due, no wake-up came since the step began, and
   * `isQuiet` holds.
   */
  idle(): Promise<void>;
  /** Starts no further step; resolves when the running one has ended. */
  stop(): Promise<void>;
}

/** Creates a loop that runs from `start` on. Steps never overlap. */
export function createDueLoop(
  { clock, log, store }: LoopSurroundings,
  { step, trouble, isQuiet = () => true }: DueLoopParts,
): DueLoop {
  let isStopped = false;
  /** Whether a wake-up came since the running step began, which may have missed due rows. */
  let isWoken = false;
  let endSleep = () => {};
  let unsubscribe = () => {};
  let running = Promise.resolve();
  const idleWaiters: (() => void)[] = [];

  const wake = () => {
    isWoken = true;
    endSleep();
  };

  const sleepUntil = (at: number) =>
    new Promise<void>((resolve) => {
      // The limit also covers a clock set back since `at` was computed.
      const cancel = clock.after(Math.min(at - clock.now(), longestSleepMs), resolve);
      endSleep = () => {
        cancel();
        resolve();
      };
    });

  const stepOnce = async (): Promise<number> => {
    try {
      return await step();
    } catch (error) {
      log.error({ err: error }, trouble);
      return clock.now() + troublePauseMs;
    }
  };

  const run = async () => {
    while (!isStopped) {
      isWoken = false;
      const nextAt = await stepOnce();
      if (nextAt === 0 || isWoken) continue;
      if (isQuiet()) {
        for (const resolve of idleWaiters.splice(0)) resolve();
      }
      if (!isWoken) await sleepUntil(nextAt);
    }
  };

  return {
    start() {
      unsubscribe = store.onChange(wake);
      running = run();
    },
    wake,
    idle: () =>
      new Promise((resolve) => {
        idleWaiters.push(resolve);
        wake();
      }),
    async stop() {
      isStopped = true;
      unsubscribe();
      wake();
      await running;
    },
  };
}
