// Periods of queries: months (UTC, like the quota), and days of an organization's time zone.
// Counters have hours of UTC: in a zone with a half-hour offset, an hour belongs to the day in
// which it begins.
import { ValidationError } from '../../platform/errors.ts';
import { dayAfter, dayIn, startOfDayIn } from '../../platform/runtime/calendar.ts';
import { dayMs, hourMs, hourOf } from './metrics.ts';
import type { Range } from './queries.ts';

const defaultDays = 30;
const mostDays = 366;

/** Returns the range of a month (UTC). `period` is `current` or `YYYY-MM`. */
export function monthOf(period: string, now: number): Range {
  const date = period === 'current' ? new Date(now) : new Date(`${period}-01T00:00:00Z`);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1) };
}

/** Returns the first hour that begins at or after a time. */
function nextHour(timeMs: number): number {
  return hourOf(timeMs + hourMs - 1);
}

/** Bounds of a query: each a day, an instant, or absent. */
export interface Dates {
  startDate?: string | null | undefined;
  endDate?: string | null | undefined;
}

function isDay(text: string): boolean {
  return text.length === 'YYYY-MM-DD'.length;
}

/**
 * Returns the range in whole hours. A day is a day of the time zone; the last day is included. A
 * start instant is cut to the hour, an end instant extended to the next hour. The default end is
 * now, and the default range has 30 days.
 * @throws ValidationError if the end is not after the start, or for more than 366 days.
 */
export function rangeOf({ startDate, endDate }: Dates, timezone: string, now: number): Range {
  const lastDay = endDate && isDay(endDate) ? endDate : null;
  const toMs = lastDay
    ? startOfDayIn(timezone, dayAfter(lastDay))
    : endDate
      ? Date.parse(endDate)
      : now;
  const to = nextHour(endDate ? toMs : toMs + 1);
  const firstDay = dayAfter(lastDay ?? dayIn(timezone, to - 1), 1 - defaultDays);
  const from = startDate
    ? isDay(startDate)
      ? nextHour(startOfDayIn(timezone, startDate))
      : hourOf(Date.parse(startDate))
    : nextHour(startOfDayIn(timezone, firstDay));
  if (to <= from) throw ValidationError.of('endDate', 'must not be before startDate');
  if (to - from > mostDays * dayMs + hourMs) {
    throw ValidationError.of('startDate', `must be at most ${mostDays} days before the end`);
  }
  return { from, to };
}

/**
 * Returns the starts of a range's buckets: the hours, or the days in the zone. The first day may
 * begin before the range.
 */
export function bucketStarts(range: Range, interval: 'day' | 'hour', timezone: string): number[] {
  const starts: number[] = [];
  if (interval === 'hour') {
    for (let hour = range.from; hour < range.to; hour += hourMs) starts.push(hour);
    return starts;
  }
  let day = dayIn(timezone, range.from);
  for (;;) {
    const start = startOfDayIn(timezone, day);
    if (start >= range.to) return starts;
    starts.push(start);
    day = dayAfter(day);
  }
}
