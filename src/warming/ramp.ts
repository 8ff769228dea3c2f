// How fast a plan lets a domain grow (specification 3): the allowance of each window, and the
// whole ramp drawn ahead. Pure.
import { isoTime } from '../runtime/clock.ts';
import { dayMs } from '../usage/metrics.ts';

/** A window is open for so long. */
export const windowMs = dayMs;

/** What a ramp goes by. Recipients are of a window. */
export interface Growth {
  initialDailyRecipients: number;
  dailyGrowthPercent: number;
  targetDailyRecipients: number;
}

/** The steepest ramp that still ends takes 984 windows: from 1 to 1,000,000 by one percent. */
const mostWindows = 1_200;
/** Of a ramp that does not end. */
const endlessWindows = 30;

/** The allowance of the first window: never beyond the target. */
export function firstAllowance(growth: Growth): number {
  return Math.min(growth.initialDailyRecipients, growth.targetDailyRecipients);
}

/**
 * The allowance of the window after a safe one. Reckoned in whole hundredths, as 100 × 1.1 is a little
 * more than 110.
 */
export function nextAllowance(previous: number, growth: Omit<Growth, 'initialDailyRecipients'>) {
  const { dailyGrowthPercent, targetDailyRecipients } = growth;
  const grown = Math.ceil((previous * (100 + dailyGrowthPercent)) / 100);
  return Math.min(targetDailyRecipients, grown);
}

/** A window that a plan would have. */
export interface SimulatedWindow {
  sequence: number;
  startsAt: string;
  endsAt: string;
  allowanceRecipients: number;
}

export interface Simulation {
  windows: SimulatedWindow[];
  /** Null where the ramp stands below its target for ever. */
  completesAt: string | null;
}

/** The windows of a plan that began at `start` (ms since 1970), if each of them is safe. */
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
