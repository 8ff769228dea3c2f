// The heartbeat of the store's clock. It detects jumps of the clock between two runs of a daemon,
// and stores jumps for later runs.
//
//   a start                                           | then
//   --------------------------------------------------+------------------------------------------
//   more than a minute before the last heartbeat      | a jump back
//   up to a minute before it                          | new ids follow the heartbeat
//   more than a day after it                          | a jump forward
//   by a clock that is advanced, or the first of all  | no jump
import { clockJumpsOf, jumpToleranceMs } from '../../platform/runtime/clock-jumps.ts';
import type { Db } from '../../platform/store/db.ts';
import type { App } from '../app.ts';
import { findClockState, storeBeat, storeJump } from './queries.ts';

const beatMs = 60_000;
/** Most time that a heartbeat adds to the time without a jump. */
const mostWatchedMs = 2 * beatMs;
const longestStopMs = 86_400_000;
const longestAgeMs = 366 * 86_400_000;

/** Returns the jump between the last heartbeat and a start in ms; 0 without a jump. */
function jumpOfStart(now: number, beatAt: number): number {
  if (beatAt === 0) return 0;
  const passedMs = now - beatAt;
  return passedMs < -jumpToleranceMs || passedMs > longestStopMs ? passedMs : 0;
}

/** Records a jump. Earlier jumps are forgotten once wall and steady time have agreed for a year. */
async function recordJump(trx: Db, now: number, jumpMs: number): Promise<void> {
  const state = await findClockState(trx);
  const isOver = (state?.agreed_ms ?? 0) > longestAgeMs;
  const before = isOver ? null : (state?.behind_from ?? null);
  const behindFrom = jumpMs < 0 ? Math.min(now, before ?? now) : before;
  await storeJump(trx, { now, jumpMs, behindFrom });
}

/**
 * Starts the heartbeat of a daemon, before all work that depends on due times. The returned
 * function ends it with a last beat.
 */
export async function startHeartbeat(app: App): Promise<() => Promise<void>> {
  const { clock, store, log } = app;
  if (clock.join) return async () => {};
  const jumps = clockJumpsOf(app);
  let writing: Promise<unknown> = Promise.resolve();
  let cancel = () => {};

  const write = (work: Parameters<typeof store.write<void>>[0]) => {
    writing = writing
      .then(() => store.write(work, 'quiet'))
      .catch((error: unknown) => log.warn({ err: error }, 'a heartbeat was not stored'));
    return writing;
  };
  const beat = () => write((trx) => storeBeat(trx, clock.now(), mostWatchedMs));

  const state = await findClockState(store.db);
  const unsubscribe = jumps.onJump((jumpMs) => {
    log.warn(
      { jumpMs },
      'the clock was set, or no daemon ran for a day: no data is deleted by age for an hour',
    );
    const now = clock.now();
    void write((trx) => recordJump(trx, now, jumpMs));
  });
  const lastBeatAt = state?.beat_at ?? 0;
  const startJumpMs = jumpOfStart(clock.now(), lastBeatAt);
  if (startJumpMs !== 0) jumps.reportStart(startJumpMs);
  else app.newId.follow(lastBeatAt);
  await beat();

  const schedule = () => {
    cancel = clock.after(beatMs, () => {
      jumps.look();
      void beat();
      schedule();
    });
  };
  schedule();
  return async () => {
    cancel();
    unsubscribe();
    await beat();
  };
}
