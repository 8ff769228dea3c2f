// Spans of time as people ask for them: months (UTC, like the quota), and days of an organization's
// time zone. Counters are kept by the hour of UTC: where a zone is off by half an hour, an hour
// belongs to the day that it begins in.
import { ValidationError } from '../errors.ts';
import { dayMs, hourMs, hourOf } from './metrics.ts';
import type { Range } from './queries.ts';

const defaultDays = 30;
const mostDays = 366;

/** The month (UTC): `current`, or `YYYY-MM`. */
export function monthOf(period: string, now: number): Range {
  const date = period === 'current' ? new Date(now) : new Date(`${period}-01T00:00:00Z`);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1) };
}

/** A calendar day, as `YYYY-MM-DD`. */
type Day = string;

const formats = new Map<string, Intl.DateTimeFormat>();
const mostFormats = 600;

function formatOf(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    if (formats.size < mostFormats) formats.set(timezone, format);
  }
  return format;
}

/** What clocks in the zone show then, as if it were UTC. */
function wallTime(timeMs: number, timezone: string): number {
  const parts = formatOf(timezone).formatToParts(timeMs);
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = [
    'year',
    'month',
    'day',
    'hour',
    'minute',
    'second',
  ].map((type) => Number(parts.find((part) => part.type === type)?.value));
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The day in the zone that a time lies in. */
function dayIn(timezone: string, timeMs: number): Day {
  return new Date(wallTime(timeMs, timezone)).toISOString().slice(0, 10);
}

/** When a day begins in the zone: its midnight, or the first moment after where there is none. */
function startOfDayIn(timezone: string, day: Day): number {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  const offsetAt = (timeMs: number) => wallTime(timeMs, timezone) - timeMs;
  // The offset of the day before, and where the clocks were changed since, that of the day itself.
  const earlier = midnight - offsetAt(midnight - dayMs);
  const later = midnight - offsetAt(earlier);
  return wallTime(later, timezone) === midnight ? later : Math.max(earlier, later);
}

/** The day so many days later. */
function dayAfter(day: Day, days = 1): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
}

/** The first hour that begins at or after a time. */
function nextHour(timeMs: number): number {
  return hourOf(timeMs + hourMs - 1);
}

/** Where somebody asks from and to: a day, an instant, or nothing. */
export interface Dates {
  startDate?: string | null | undefined;
  endDate?: string | null | undefined;
}

function isDay(text: string): boolean {
  return text.length === 'YYYY-MM-DD'.length;
}

/**
 * The hours asked for. A day is one of the time zone, the last one counts whole; an instant is taken
 * to its hour. Without an end until now, without a start the 30 days before the end.
 * @throws ValidationError where the end is not after the start, or more than 366 days are asked for.
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
  if (to <= from) throw ValidationError.of('endDate', 'must not lie before startDate');
  if (to - from > mostDays * dayMs + hourMs) {
    throw ValidationError.of('startDate', `must lie at most ${mostDays} days before the end`);
  }
  return { from, to };
}

/** When the buckets of a range begin: its hours, or its days in the zone (the first may be cut). */
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
