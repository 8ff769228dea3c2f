// The age of data, for deletions by age. A wrong clock must not make data old:
//
//   the clock                                          | data that is deleted by age
//   ---------------------------------------------------+------------------------------------------------------
//   was set, and wall and steady time have not yet     | none
//   agreed for an hour                                 |
//   was behind, and both have not yet agreed for the   | only data from before: later data may be younger than
//   age in question                                    | its times say
//   is right                                           | all that is old
import { clockJumpsOf } from '../../platform/runtime/clock-jumps.ts';
import type { App } from '../app.ts';
import { type ClockStateRow, findClockState } from './queries.ts';

const trustedAfterMs = 3_600_000;

/**
 * Returns the stored state of the clock; null unless wall and steady time have agreed for an hour.
 * For the clock of PostgreSQL, which is always trusted, returns an empty object.
 */
async function trustedState(app: App): Promise<Partial<ClockStateRow> | null> {
  const { clock, store } = app;
  if (clock.join) return {};
  const jumps = clockJumpsOf(app);
  jumps.look();
  if (jumps.agreedMs < trustedAfterMs) return null;
  const state: Partial<ClockStateRow> = (await findClockState(store.db)) ?? {};
  return (state.agreed_ms ?? trustedAfterMs) >= trustedAfterMs ? state : null;
}

/** Tells whether data may be deleted by age. */
export async function isClockTrusted(app: App): Promise<boolean> {
  return (await trustedState(app)) !== null;
}

/**
 * Returns the time before which data is surely older than `ageMs`; 0 while the clock is not
 * trusted.
 */
export async function timeOfAge(app: App, ageMs: number): Promise<number> {
  const state = await trustedState(app);
  if (!state) return 0;
  const before = Math.max(0, app.clock.now() - ageMs);
  const { behind_from = null, agreed_ms = 0 } = state;
  return behind_from === null || agreed_ms >= ageMs ? before : Math.min(before, behind_from);
}
