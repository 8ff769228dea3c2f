// Quiet hours of a contact: the time of day, in the contact's zone, at which it wants no mail. They
// may pass midnight. Their end is a time of day too, also on a day with a change of clocks.
import { dayAfter, dayIn, minuteIn, timeIn } from '../../platform/runtime/calendar.ts';

/** Longest delay of a message by quiet hours. */
const mostDelayMs = 24 * 3_600_000;
const minutesOfHour = 60;

/** Times of day as `HH:MM`. */
export interface QuietHours {
  start: string;
  end: string;
}

function minuteOf(timeOfDay: string): number {
  const [hours = 0, minutes = 0] = timeOfDay.split(':').map(Number);
  return hours * minutesOfHour + minutes;
}

/**
 * Returns the end of the quiet hours in which `now` lies, in ms since 1970; null outside of them.
 * Equal start and end mean no quiet hours.
 */
export function endOfQuietHours(
  { start, end }: QuietHours,
  timezone: string,
  now: number,
): number | null {
  const [from, to, minute] = [minuteOf(start), minuteOf(end), minuteIn(timezone, now)];
  const isSinceYesterday = from > to && minute < to;
  const isWithin = from < to ? from <= minute && minute < to : from > to && minute >= from;
  if (!(isWithin || isSinceYesterday)) return null;
  const today = dayIn(timezone, now);
  const day = from > to && !isSinceYesterday ? dayAfter(today) : today;
  const endsAt = timeIn(timezone, day, to);
  // Clocks that are set back show the end twice: the first end counts.
  return endsAt > now ? Math.min(now + mostDelayMs, endsAt) : null;
}
