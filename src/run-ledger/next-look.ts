// Chooses the time at which waiting mail of a run or of a double opt-in is tried again.
import type { Clock } from '../platform/runtime/clock.ts';
import type { RunLimit } from './schema.ts';

const tokenPauseMs = 500;
const queuePauseMs = 1_000;
const lookAgainMs = 15_000;
const rarelyMs = 3_600_000;

/**
 * Returns the pause after which a run checks whether the cause of a wait or a hold has ended. The
 * pause is longer on a virtual clock, which must play every check when it is advanced.
 */
export function lookPauseMs({ join }: Pick<Clock, 'join'>): number {
  return join ? rarelyMs : lookAgainMs;
}

/** Reason and end of a run's wait. */
export interface Wait {
  reason: RunLimit;
  /** Time of the next message, ms since 1970; null if it is unknown. */
  until: number | null;
}

/** Returns the time of the next check of a waiting run. */
export function nextLook({ reason, until }: Wait, clock: Clock): number {
  const now = clock.now();
  switch (reason) {
    case 'rate':
      return Math.max(until ?? now, now + tokenPauseMs);
    case 'queue':
      return now + queuePauseMs;
    case 'daily-quota':
    case 'warming':
      return Math.min(until ?? Number.POSITIVE_INFINITY, now + lookPauseMs(clock));
  }
}
