// A loop over rows that fall due: runs `step` until it says that nothing is due, then sleeps until the
// time it named, a change in the store, or `wake`. What is due, and what is done with it, is the step's.
//
//   state    | by                                                | then
//   ---------+---------------------------------------------------+---------------------------------
//   stepping | the step names 0                                  | stepping
//   stepping | it names a time; a commit or `wake` came meanwhile | stepping
//   stepping | it names a time                                   | sleeping until then, a minute at most
//   stepping | it throws, which is logged                        | the same, a second from now
//   sleeping | its time, a commit by any process, `wake`          | stepping
//   any      | `stop`                                            | ended, when the running step has
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Store } from './db.ts';

/** Where neither a time nor a change wakes it. */
const longestSleepMs = 60_000;
const troublePauseMs = 1_000;

/** The part of the App that it goes by. */
export interface LoopSurroundings {
  clock: Clock;
  log: Pick<Logger, 'error'>;
  store: Pick<Store, 'onChange'>;
}

export interface DueLoopParts {
  /**
   * Does what is due, or some of it. Returns when something is due next, in ms since 1970: 0 where more
   * may be due now, Infinity where no time is known.
   */
  step(): Promise<number>;
  /** What the log says of a step that throws. */
  trouble: string;
  /** Whether nothing that the steps began is under way; asked before each sleep for `idle`. */
  isQuiet?: () => boolean;
}

export interface DueLoop {
  start(): void;
  /** Has it look again, now or as soon as the running step has ended. */
  wake(): void;
  /** Resolves before a sleep: nothing is due, nobody woke the loop since it looked, and all is quiet. */
  idle(): Promise<void>;
  /** Lets the running step end; no other begins. */
  stop(): Promise<void>;
}

/** Starts asleep. Steps never overlap. */
export function createDueLoop(
  { clock, log, store }: LoopSurroundings,
  { step, trouble, isQuiet = () => true }: DueLoopParts,
): DueLoop {
  let isStopped = false;
  /** Since the last step began: what it did not see may be due. */
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
      // The clock may have been set back since `at` was reckoned.
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
