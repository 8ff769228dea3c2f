// What the queue does when the wall clock is set. Forwards, more is due at once, and that is all. Backwards,
// what was put off by the old time would wait for it to come again: such entries are moved to the
// present, so that each waits at most as long as it was meant to from now on, and is given up no later.
import type { App } from '../app.ts';
import {
  bringClaimsToPresent,
  bringSentToPresent,
  bringToPresent,
} from '../deliveries/clock-queries.ts';
import { newestCreatedAt } from '../deliveries/queries.ts';
import type { Clock } from '../runtime/clock.ts';
import { changeQueue } from './desk/queue-walk.ts';

/** NTP corrects less than this by itself; waits are not as exact. */
const toleranceMs = 5_000;
const sentPerWrite = 200;

/** What the queue does about the clock, for as long as a daemon runs. */
export interface ClockFollower {
  /** At the start of a daemon: the clock may have been set back while none ran. */
  start(): Promise<void>;
  /** Notices that the clock was set; what that asks for goes on beside the queue. */
  look(): void;
  /** What is under way ends after its present write. */
  abort(): void;
  ended(): Promise<void>;
}

/** The follower of one daemon. */
export function followClock(app: App): ClockFollower {
  const wasSet = watchClock(app.clock);
  const stopping = new AbortController();
  let adjusting: Promise<void> = Promise.resolve();

  /** Beside the queue, which goes on: a million entries take half a minute. */
  const adjust = async (): Promise<void> => {
    try {
      const moved = await comeToPresent(app, stopping.signal);
      if (moved === 0) return;
      app.log.warn({ moved }, 'the clock was set back: what waits is counted from now');
    } catch (error) {
      if (stopping.signal.aborted) return;
      app.log.error({ err: error }, 'the queue was not adjusted to the clock that was set back');
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

/** A function that tells by how much the wall clock was set since it was last asked, in ms. */
function watchClock(clock: Clock): () => number {
  let ahead = clock.now() - clock.elapsed();
  return () => {
    const before = ahead;
    ahead = clock.now() - clock.elapsed();
    return Math.abs(ahead - before) < toleranceMs ? 0 : ahead - before;
  };
}

/**
 * Whether the latest acceptance has not happened yet by the clock, which was set back while no daemon
 * ran. A read of one index entry; a step back that it does not show is not noticed.
 */
async function isAheadOfClock(app: App): Promise<boolean> {
  return ((await newestCreatedAt(app.store.db)) ?? 0) > app.clock.now() + toleranceMs;
}

/**
 * Moves to the present what comes from the future: whose last attempt, or its acceptance, has not
 * happened yet by the clock. Safe to repeat, and beside other daemons that do the same.
 * @returns how many entries of the queue were moved.
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
