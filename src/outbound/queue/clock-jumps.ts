// Reaction of the queue to a wall clock that was set. After a jump forward more deliveries are due
// at once; nothing else changes. After a jump back, entries postponed by the old time would wait
// until that time comes again. They are moved to the present, so that each waits and is retried at
// most as long as intended.
import type { App } from '../../core/app.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import {
  bringClaimsToPresent,
  bringSentToPresent,
  bringToPresent,
} from '../deliveries/clock-queries.ts';
import { newestCreatedAt } from '../deliveries/queries.ts';
import { changeQueue } from './desk/queue-walk.ts';

/** Smallest jump that counts. NTP corrects less at a time, and waits are less exact. */
const toleranceMs = 5_000;
const sentPerWrite = 200;

/** Keeps the queue right while a daemon runs, if the clock is set. */
export interface ClockFollower {
  /** Checks once as a daemon starts: the clock may have been set back while none ran. */
  start(): Promise<void>;
  /** Checks whether the clock was set. Adjusts entries in the background. */
  look(): void;
  /** Stops adjusting after the current write. */
  abort(): void;
  ended(): Promise<void>;
}

/** Creates the follower of one daemon. */
export function followClock(app: App): ClockFollower {
  const wasSet = watchClock(app.clock);
  const stopping = new AbortController();
  let adjusting: Promise<void> = Promise.resolve();

  /** Runs beside the queue: a million entries take half a minute. */
  const adjust = async (): Promise<void> => {
    try {
      const moved = await comeToPresent(app, stopping.signal);
      if (moved === 0) return;
      app.log.warn({ moved }, 'the clock was set back: waiting deliveries are counted from now');
    } catch (error) {
      if (stopping.signal.aborted) return;
      app.log.error({ err: error }, 'the queue was not adjusted after the clock was set back');
    }
  };

  return {
    async start() {
      if (await isAheadOfClock(app)) adjusting = adjust();
    },
    look() {
      const jumpMs = wasSet();
      if (jumpMs > 0) app.log.warn({ jumpMs }, 'the clock was set forward');
      if (jumpMs < 0) adjusting = adjusting.then(adjust);
    },
    abort: () => stopping.abort(),
    ended: () => adjusting,
  };
}

/**
 * Creates a function that returns the ms by which the wall clock was set since its last call. A clock that
 * stands still is never set.
 */
export function watchClock(clock: Clock): () => number {
  if (clock.join) return () => 0;
  let ahead = clock.now() - clock.elapsed();
  return () => {
    const before = ahead;
    ahead = clock.now() - clock.elapsed();
    return Math.abs(ahead - before) < toleranceMs ? 0 : ahead - before;
  };
}

/**
 * Tells whether the newest delivery was accepted in the future: then the clock was set back while no daemon
 * ran. Reads one index entry; a smaller step back goes unnoticed.
 */
async function isAheadOfClock(app: App): Promise<boolean> {
  return ((await newestCreatedAt(app.store.db)) ?? 0) > app.clock.now() + toleranceMs;
}

/**
 * Moves entries from the future to the present: those whose acceptance or last attempt is later than now.
 * Safe to repeat, and to run while other daemons do the same.
 * @returns the number of queue entries that were moved.
 */
async function comeToPresent(app: App, signal: AbortSignal): Promise<number> {
  const { store, clock } = app;
  const moment = () => ({ now: clock.now(), latest: clock.now() + toleranceMs });
  let moved = await store.write((trx) => bringClaimsToPresent(trx, moment()));
  for (const half of ['due', 'ready'] as const) {
    moved += await changeQueue(
      app,
      { half, filter: {}, withScheduled: false },
      (trx, rows) =>
        bringToPresent(
          trx,
          rows.map(({ id }) => id),
          moment(),
        ),
      () => signal.throwIfAborted(),
    );
  }
  for (let sent = sentPerWrite; sent === sentPerWrite; ) {
    sent = await store.write((trx) => bringSentToPresent(trx, moment(), sentPerWrite));
    signal.throwIfAborted();
  }
  return moved;
}
