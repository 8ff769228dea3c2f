// Check of the scheduled time of a send. Runs after the idempotency key: a repeat after the
// scheduled time still gets the first answer.
import type { SendCheck } from '../../../core/api/send-check.ts';
import { ValidationError } from '../../../platform/errors.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';

/** Returns the same date of the next year. */
function aYearAfter(now: number): number {
  const date = new Date(now);
  return date.setUTCFullYear(date.getUTCFullYear() + 1);
}

/** Refuses a time in the past or beyond a year; returns null for a valid time. */
function untimely(scheduledFor: number, now: number): ValidationError | null {
  const refuse = (problem: string) => ValidationError.of('scheduledFor', problem);
  if (!(scheduledFor >= now)) return refuse(`is past: the time is ${isoTime(now)}`);
  const latest = aYearAfter(now);
  if (scheduledFor > latest) {
    return refuse(`must be within a year, by ${isoTime(latest)} at the latest`);
  }
  return null;
}

export const timeCheck: SendCheck<'accepting', { scheduledFor: number | undefined }> = {
  name: 'time',
  asked: 'accepting',
  prepare: ({ clock }) => {
    const now = clock.now();
    return ({ scheduledFor }) => (scheduledFor === undefined ? null : untimely(scheduledFor, now));
  },
};
