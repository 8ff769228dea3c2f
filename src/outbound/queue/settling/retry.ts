// The retry schedule: fixed delays after each attempt with ±10 % jitter, until the age limit. The
// last delay repeats. An attempt before its planned time, by hand or because a server could be
// reached again, does not change the schedule: the planned attempt follows. Mail of the service has
// a schedule of its own, which ends with the link in the mail, or after a day.
import type { App } from '../../../core/app.ts';
import { serviceOrganizationId } from '../../../platform/runtime/ids.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const jitter = 0.1;
const endlessAttempts = 1_000;

export interface RetrySchedule {
  /** Minutes, fractions allowed; never empty. */
  readonly scheduleMinutes: readonly number[];
  readonly maxAgeHours: number;
}

/** Attempts at 0, 1, 3, 7 and 12 minutes, then each hour for a day. */
const ofService: RetrySchedule = { scheduleMinutes: [1, 2, 4, 5, 60], maxAgeHours: 24 };
/** Mail with a link of 15 minutes: the last attempt at 12 minutes. */
const ofShortLink: RetrySchedule = { ...ofService, maxAgeHours: 12 / 60 };
/** Time after the age limit in which mail of the service still gets the last attempt. */
const serviceLateMs = 3 * minuteMs;

/** Returns the schedule for mail of an organization. `isShort`: with a link of 15 minutes. */
export function scheduleOf(
  { config }: App,
  organizationId: string,
  isShort = false,
): RetrySchedule {
  if (organizationId !== serviceOrganizationId) return config.delivery.retry;
  return isShort ? ofShortLink : ofService;
}

/** Returns the schedule of a delivery. An age limit below an hour means a link of 15 minutes. */
export function scheduleOfRow(
  app: App,
  row: Pick<DeliveryRow, 'organization_id' | 'created_at' | 'expires_at'>,
): RetrySchedule {
  return scheduleOf(app, row.organization_id, row.expires_at - row.created_at < hourMs);
}

/**
 * Tells whether a delivery is mail of the service that comes too late, such as after a stop of the
 * daemon: its link has ended, or is about to end.
 */
export function isLateService(
  row: Pick<DeliveryRow, 'organization_id' | 'expires_at'>,
  now: number,
): boolean {
  return row.organization_id === serviceOrganizationId && now - row.expires_at > serviceLateMs;
}

function baseDelayMs({ scheduleMinutes }: RetrySchedule, attemptCount: number): number {
  const index = Math.min(attemptCount, scheduleMinutes.length) - 1;
  return (scheduleMinutes[Math.max(index, 0)] ?? 1) * minuteMs;
}

/**
 * Returns the wait after attempt number `attemptCount` (from 1), in milliseconds. `spread` is the
 * position within the jitter, from 0 to 1; mail of the service has no jitter.
 */
export function retryDelayMs(
  schedule: RetrySchedule,
  attemptCount: number,
  spread: number,
): number {
  const isExact = schedule.scheduleMinutes === ofService.scheduleMinutes;
  const factor = isExact ? 1 : 1 + jitter * (2 * spread - 1);
  return Math.round(baseDelayMs(schedule, attemptCount) * factor);
}

type Planned = Pick<DeliveryRow, 'attempt_count' | 'early_attempts' | 'planned_at'>;

/**
 * Returns the time of the next attempt, and the early attempts so far. After an early attempt the
 * planned time stays. `delayAfter` returns the wait after a number of planned attempts.
 */
export function planNext(
  { attempt_count: made, early_attempts: early, planned_at: plannedAt }: Planned,
  now: number,
  delayAfter: (planned: number) => number,
): { due_at: number; early_attempts: number } {
  if (plannedAt !== null && plannedAt > now)
    return { due_at: plannedAt, early_attempts: early + 1 };
  return { due_at: now + delayAfter(made - early), early_attempts: early };
}

/** Returns the age limit of a message accepted at `acceptedAt`, in milliseconds since 1970. */
export function expiryOf(schedule: RetrySchedule, acceptedAt: number): number {
  return acceptedAt + schedule.maxAgeHours * hourMs;
}

/** Counts the attempts of the schedule, including the attempt at the age limit, without jitter. */
export function maxAttempts(schedule: RetrySchedule): number {
  let attempts = 1;
  let ageMs = 0;
  while (attempts < endlessAttempts) {
    ageMs += baseDelayMs(schedule, attempts);
    attempts++;
    if (ageMs >= schedule.maxAgeHours * hourMs) break;
  }
  return attempts;
}
