// A clock that stands still until a test advances it: 72 hours of retries pass in milliseconds. As
// on a real machine, a jump of the wall clock (`set`) does not affect running timers.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../src/platform/runtime/clock.ts';
import { clockJumpsOf } from '../../src/platform/runtime/clock-jumps.ts';

export interface VirtualClock extends Clock {
  /** Advances by `ms`. Fires due timers in order, and settles promises and I/O in between. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock, forwards or backwards; timers keep their remaining delay. */
  set(ms: number): void;
  /** Returns the time of the next timer, comparable with `now()`; undefined without a timer. */
  nextTimerAt(): number | undefined;
}

interface Timer {
  dueMs: number;
  run: () => void;
}

const defaultStartMs = Date.UTC(2026, 0, 12, 12);
/** Turns of the event loop after each firing: enough for chains of promises and loopback reads. */
const settleTurns = 4;
/** More timers than this at a single time mean a timer that re-arms itself without delay. */
const maxFiringsAtOnce = 10_000;

async function settle(): Promise<void> {
  for (let turn = 0; turn < settleTurns; turn++) await nextTurn();
}

/**
 * Returns a clock that starts at `startMs` (ms since 1970; by default Monday 2026-01-12 12:00 UTC).
 */
export function virtualClock(startMs = defaultStartMs): VirtualClock {
  // `elapsedMs` is the steady clock that timers obey; the wall clock is `offsetMs` ahead of it.
  let elapsedMs = 0;
  let offsetMs = startMs;
  const timers: Timer[] = [];

  function after(delayMs: number, run: () => void): () => void {
    const timer = { dueMs: elapsedMs + Math.max(0, delayMs), run };
    const at = timers.findLastIndex((other) => other.dueMs <= timer.dueMs) + 1;
    timers.splice(at, 0, timer);
    return () => {
      const index = timers.indexOf(timer);
      if (index >= 0) timers.splice(index, 1);
    };
  }

  async function advance(ms: number): Promise<void> {
    const targetMs = elapsedMs + ms;
    await settle();
    let firingsAtOnce = 0;
    for (let next = timers[0]; next && next.dueMs <= targetMs; next = timers[0]) {
      firingsAtOnce = next.dueMs > elapsedMs ? 1 : firingsAtOnce + 1;
      if (firingsAtOnce > maxFiringsAtOnce) throw new Error('a timer re-arms itself without delay');
      timers.shift();
      elapsedMs = Math.max(elapsedMs, next.dueMs);
      next.run();
      await settle();
    }
    elapsedMs = Math.max(elapsedMs, targetMs);
  }

  return {
    now: () => elapsedMs + offsetMs,
    elapsed: () => elapsedMs,
    after,
    advance,
    set(ms) {
      offsetMs = ms - elapsedMs;
    },
    nextTimerAt: () => timers[0] && timers[0].dueMs + offsetMs,
  };
}

/** Longer than any lease. */
const leapEndMs = 300_000;

/**
 * Advances by more than five minutes: most of the time at once, then five minutes. On PostgreSQL,
 * after a jump, nothing falls due by the new time for the length of a lease.
 */
export async function leap(
  { app, clock }: { app: { clock: Clock }; clock: VirtualClock },
  ms: number,
): Promise<void> {
  clock.set(clock.now() + ms - leapEndMs);
  clockJumpsOf(app).look();
  await clock.advance(leapEndMs);
}

/** Advances the clock in steps whenever all work waits for it, until `answer` settles. */
export async function passingTime<T>(
  clock: VirtualClock,
  answer: Promise<T>,
  stepMs = 1_000,
): Promise<T> {
  let settled = false;
  const mark = () => {
    settled = true;
  };
  answer.then(mark, mark);
  for (;;) {
    for (let turn = 0; turn < 50 && !settled; turn++) await nextTurn();
    if (settled) return answer;
    await clock.advance(stepMs);
  }
}
