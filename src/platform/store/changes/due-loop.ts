// A loop over rows that fall due. It runs `step` until nothing is due, then sleeps until the time
// that the step returned, a change in the store, or `wake`. The step reads the rows and does the
// work.
//
// state    | event                                              | then
// ---------+----------------------------------------------------+---------------------------------
// stepping | the step returns 0                                 | stepping
// stepping | it returns a time; commit or `wake` came meanwhile | stepping
// stepping | it returns a time                                  | sleeping, a minute at most
// stepping | it returns a pause                                 | sleeping so long, though work may be due
// stepping | it throws, which is logged                         | sleeping for a second
// sleeping | its time, a commit by any process, `wake`          | stepping
// sleeping | a commit less than `restMs` after the last step    | sleeping until then
// any      | `stop`                                             | ended, once the running step ends
import type { Clock } from '../../runtime/clock.ts';
import { sliceTurns } from '../../runtime/fairness/loop-turns.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Store } from '../db.ts';

/** Longest sleep, in ms, without a due time or a change. */
const longestSleepMs = 60_000;
const troublePauseMs = 1_000;

/** Fields of the App that the loop uses. */
export interface LoopSurroundings {
  clock: Clock;
  log: Pick<Logger, 'error'>;
  store: Pick<Store, 'onChange'>;
}

/** A wait in ms of steady time. */
export interface Pause {
  pauseMs: number;
}

export interface DueLoopParts {
  /** Name of the steps in the metric of stalls. */
  name: string;
  /**
   * Processes some or all due rows. Returns the next due time in ms since 1970: 0 if more may be
   * due now, Infinity if no time is known. Returns a pause if due work remains for later.
   */
  step(): Promise<number | Pause>;
  /** Log message if a step throws. */
  trouble: string;
  /** Tells whether all work begun by the steps has ended. Called before each sleep, for `idle`. */
  isQuiet?: () => boolean;
  /**
   * False for a loop without due times: a clock that is advanced does not wait for it. Default
   * true.
   */
  isTimed?: boolean;
  /**
   * Shortest time in ms from the end of a step to a step that a commit wakes. Under load commits
   * come every few ms, and each step reads the store. Default 0, and 0 on a clock that is advanced.
   */
  restMs?: number;
}

/** `restMs` of loops whose work may start some ms late. */
export const usualRestMs = 25;

export interface DueLoop {
  start(): void;
  /** Runs the step again, now or when the running step has ended. */
  wake(): void;
  /**
   * Wakes the loop, and resolves before the next sleep at which `isQuiet` holds. The loop sleeps
   * once a step finds nothing due or asks for a pause, unless it was woken during the step.
   */
  idle(): Promise<void>;
  /** Starts no further step; resolves when the running step has ended. */
  stop(): Promise<void>;
}

/** Creates a loop that runs from `start` on. Steps never overlap. */
export function createDueLoop(
  { clock, log, store }: LoopSurroundings,
  { name, step, trouble, isQuiet = () => true, isTimed = true, restMs = 0 }: DueLoopParts,
): DueLoop {
  let isStopped = false;
  /** Whether `wake` was called since the running step began, which may have missed due rows. */
  let isWoken = false;
  let endSleep = () => {};
  let unsubscribe = () => {};
  let running = Promise.resolve();
  const idleWaiters: (() => void)[] = [];
  const settleWaiters: ((hasWorked: boolean) => void)[] = [];
  let hasWorked = false;
  let dueAt = Number.POSITIVE_INFINITY;

  const wake = () => {
    isWoken = true;
    endSleep();
  };

  /** End of the last step, in ms of steady time. */
  let endedAt = Number.NEGATIVE_INFINITY;
  let endRest: (() => void) | undefined;

  /** Wakes the loop for a commit, at once or at the end of its rest. */
  const wakeForCommit = () => {
    if (endRest) return;
    const leftMs = clock.join ? 0 : endedAt + restMs - clock.elapsed();
    if (leftMs <= 0) return wake();
    endRest = clock.after(leftMs, () => {
      endRest = undefined;
      wake();
    });
  };

  const sleepFor = (ms: number) =>
    new Promise<void>((resolve) => {
      // The limit also helps if the clock was set back since the due time was computed.
      const cancel = clock.after(Math.min(ms, longestSleepMs), resolve);
      endSleep = () => {
        cancel();
        resolve();
      };
    });

  const stepOnce = async (): Promise<number | Pause> => {
    try {
      await sliceTurns(`loop: ${name}`);
      return await step();
    } catch (error) {
      log.error({ err: error }, trouble);
      return { pauseMs: troublePauseMs };
    }
  };

  const endSettling = () => {
    for (const resolve of settleWaiters.splice(0)) resolve(hasWorked);
    hasWorked = false;
  };

  const run = async () => {
    while (!isStopped) {
      isWoken = false;
      const next = await stepOnce();
      endedAt = clock.elapsed();
      if (next === 0) hasWorked = true;
      if (next === 0 || isWoken) continue;
      const isPause = typeof next !== 'number';
      dueAt = isPause ? Number.POSITIVE_INFINITY : next;
      if (isQuiet()) {
        for (const resolve of idleWaiters.splice(0)) resolve();
        if (!isPause) endSettling();
      }
      if (!isWoken) await sleepFor(isPause ? next.pauseMs : next - clock.now());
    }
    endSettling();
  };

  const settle = () =>
    new Promise<boolean>((resolve) => {
      if (isStopped) return resolve(false);
      settleWaiters.push(resolve);
      wake();
    });

  return {
    start() {
      const leave = isTimed ? clock.join?.({ settle, nextAt: () => dueAt }) : undefined;
      const unsubscribeStore = store.onChange(wakeForCommit);
      unsubscribe = () => {
        unsubscribeStore();
        leave?.();
      };
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
      endRest?.();
      unsubscribe();
      wake();
      await running;
    },
  };
}
