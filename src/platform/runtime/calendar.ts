// Calendar days in time zones: the day of a time, and the start of a day. Handles changes to summer
// time, days without midnight, and offsets of 30 or 45 minutes.

const dayMs = 86_400_000;
const minuteMs = 60_000;

/** A calendar day, as `YYYY-MM-DD`. */
type Day = string;

const formats = new Map<string, Intl.DateTimeFormat>();
const mostFormats = 600;

/**
 * Tells whether this is the name of an IANA time zone. Node also accepts offsets such as +02:00.
 */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

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

/**
 * Returns the local time in the zone, as the ms since 1970 at which UTC clocks show the same time.
 */
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

/** Returns the day of a time in the zone. */
export function dayIn(timezone: string, timeMs: number): Day {
  return new Date(wallTime(timeMs, timezone)).toISOString().slice(0, 10);
}

/** Returns the local time in the zone as `YYYY-MM-DD HH:MM`. */
export function wallTimeIn(timezone: string, timeMs: number): string {
  return new Date(wallTime(timeMs, timezone)).toISOString().slice(0, 16).replace('T', ' ');
}

/**
 * Returns the start of a day in the zone in ms since 1970: midnight, or the first moment after a
 * skipped midnight.
 */
export function startOfDayIn(timezone: string, day: Day): number {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  const offsetAt = (timeMs: number) => wallTime(timeMs, timezone) - timeMs;
  // `earlier` uses the offset of the previous day. If the clocks changed since, `later` uses the
  // offset of the day itself.
  const earlier = midnight - offsetAt(midnight - dayMs);
  const later = midnight - offsetAt(earlier);
  return wallTime(later, timezone) === midnight ? later : Math.max(earlier, later);
}

/** Returns the minute of the day at a time in the zone, from 0 to 1439. */
export function minuteIn(timezone: string, timeMs: number): number {
  return Math.floor((wallTime(timeMs, timezone) % dayMs) / minuteMs);
}

/**
 * Returns the time of a minute (0 to 1439) of a day in the zone, in ms since 1970. If clocks show
 * the minute twice, returns the first time; if clocks skip the minute, the first moment after.
 */
export function timeIn(timezone: string, day: Day, minute: number): number {
  const wall = Date.parse(`${day}T00:00:00Z`) + minute * minuteMs;
  const offsetAt = (timeMs: number) => wallTime(timeMs, timezone) - timeMs;
  const times = [wall - offsetAt(wall - dayMs), wall - offsetAt(wall + dayMs)];
  const found = times.filter((time) => wallTime(time, timezone) === wall);
  if (found.length > 0) return Math.min(...found);
  // The clocks change between the two times: finds the first moment with the later offset.
  let [before, after] = [Math.min(...times), Math.max(...times)];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (wallTime(middle, timezone) < wall) before = middle;
    else after = middle;
  }
  return after;
}

/** Returns the day that is `days` after a day. */
export function dayAfter(day: Day, days = 1): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
}
