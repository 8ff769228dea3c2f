// Adjusts the queue after the wall clock was set. After a jump forward more deliveries are due at
// once; nothing else changes. After a jump back, entries would wait until the clock reaches the old
// time again. So their times move to the present, and no entry waits longer than intended.
import type { App } from '../../core/app.ts';
import { clockJumpsOf } from '../../platform/runtime/clock-jumps.ts';
import {
  bringClaimsToPresent,
  bringSentToPresent,
  bringToPresent,
} from '../deliveries/clock-queries.ts';
import { changeQueue } from './desk/queue-walk.ts';

/** Entries dated up to this far in the future stay, as waits are not that exact. */
const toleranceMs = 5_000;
const sentPerWrite = 200;

/** Adjusts the queue while a daemon runs, after the clock was set back. */
export interface ClockFollower {
  /** Stops adjusting after the current write. */
  abort(): void;
  ended(): Promise<void>;
}

/** Follows the clock of a daemon, and adjusts entries in the background after each jump back. */
export function followClock(app: App): ClockFollower {
  const stopping = new AbortController();
  let adjusting: Promise<void> = Promise.resolve();

  /** Runs in the background: moving a million entries takes half a minute. */
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

  const unsubscribe = clockJumpsOf(app).onJump((jumpMs) => {
    if (jumpMs < 0) adjusting = adjusting.then(adjust);
  });
  return {
    abort() {
      unsubscribe();
      stopping.abort();
    },
    ended: () => adjusting,
  };
}

/**
 * Moves entries to the present if their acceptance or last attempt is in the future. Safe to
 * repeat, and to run in several daemons at once. @returns the number of queue entries that were
 * moved.
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
