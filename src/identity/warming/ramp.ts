// Calculates the growth of a warming plan (specification 3): the allowance of each window, and a
// preview of the whole ramp. Pure functions.
import { isoTime } from '../../platform/runtime/clock.ts';
import { dayMs } from '../reputation/metrics.ts';

/** A window lasts a day. */
export const windowMs = dayMs;

/** Parameters of a ramp. Recipients are counted per window. */
export interface Growth {
  initialDailyRecipients: number;
  dailyGrowthPercent: number;
  targetDailyRecipients: number;
}

/**
 * Most windows of a simulation: the slowest finite ramp takes 984, from 1 to 1,000,000 by 1
 * percent.
 */
const mostWindows = 1_200;
/** Number of windows shown of a ramp without end. */
const endlessWindows = 30;

/** Returns the allowance of the first window, at most the target. */
export function firstAllowance(growth: Growth): number {
  return Math.min(growth.initialDailyRecipients, growth.targetDailyRecipients);
}

/**
 * Returns the allowance of the window after a safe window. Calculates in whole hundredths, as 100 ×
 * 1.1 in floating point is a little more than 110.
 */
export function nextAllowance(previous: number, growth: Omit<Growth, 'initialDailyRecipients'>) {
  const { dailyGrowthPercent, targetDailyRecipients } = growth;
  const grown = Math.ceil((previous * (100 + dailyGrowthPercent)) / 100);
  return Math.min(targetDailyRecipients, grown);
}

/** A future window of a plan. */
export interface SimulatedWindow {
  sequence: number;
  startsAt: string;
  endsAt: string;
  allowanceRecipients: number;
}

export interface Simulation {
  windows: SimulatedWindow[];
  /** Null if the ramp stays below the target for ever. */
  completesAt: string | null;
}

/**
 * Returns the windows of a plan that began at `start` (ms since 1970), assuming that each window is
 * safe.
 */
export function simulateRamp(growth: Growth, start: number): Simulation {
  const windows: SimulatedWindow[] = [];
  const isEndless =
    growth.dailyGrowthPercent === 0 && firstAllowance(growth) < growth.targetDailyRecipients;
  const most = isEndless ? endlessWindows : mostWindows;
  let allowance = firstAllowance(growth);
  while (windows.length < most) {
    const startsAt = start + windows.length * windowMs;
    windows.push({
      sequence: windows.length + 1,
      startsAt: isoTime(startsAt),
      endsAt: isoTime(startsAt + windowMs),
      allowanceRecipients: allowance,
    });
    if (allowance === growth.targetDailyRecipients) break;
    allowance = nextAllowance(allowance, growth);
  }
  return { windows, completesAt: isEndless ? null : (windows.at(-1)?.endsAt ?? null) };
}
