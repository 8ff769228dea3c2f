// What makes a draft one for later: its time is checked, and its deliveries wait for it without a
// turn. Writes nothing.
import type { App } from '../app.ts';
import { overallStatus } from '../deliveries/status.ts';
import { ValidationError } from '../errors.ts';
import { presentMessage } from '../messages/present.ts';
import { expiryOf } from '../queue/retry.ts';
import { isoTime } from '../runtime/clock.ts';
import type { Draft } from './draft.ts';

/** The same date of the next year. */
function aYearAfter(now: number): number {
  const date = new Date(now);
  return date.setUTCFullYear(date.getUTCFullYear() + 1);
}

/**
 * The refusal of a time that is past, or beyond a year; null for one that may be waited for. Asked
 * after the idempotency key: a repeat that comes when the time is over still gets its answer.
 */
export function untimely(scheduledFor: number | undefined, now: number): ValidationError | null {
  if (scheduledFor === undefined) return null;
  const refuse = (problem: string) => ValidationError.of('scheduledFor', problem);
  if (!(scheduledFor >= now)) return refuse(`is past: it is ${isoTime(now)} now`);
  const latest = aYearAfter(now);
  if (scheduledFor > latest) {
    return refuse(`must be within a year, by ${isoTime(latest)} at the latest`);
  }
  return null;
}

/** The draft, to be sent at `scheduledFor`. What has ended in it (a blocked address) stays so. */
export function scheduledDraft(app: App, draft: Draft, scheduledFor: number): Draft {
  const deliveries = draft.deliveries.map((row) =>
    row.status === 'pending'
      ? {
          ...row,
          status: 'scheduled' as const,
          due_at: scheduledFor,
          queued_at: null,
          expires_at: expiryOf(app.config.delivery.retry, scheduledFor),
        }
      : row,
  );
  const message = {
    ...draft.message,
    scheduled_for: scheduledFor,
    status: overallStatus(deliveries.map(({ status }) => status)),
  };
  const presented = presentMessage(message, draft.recipients, deliveries);
  return { ...draft, message, deliveries, presented };
}
