// Times and figures as people say them.
import { dayAfter, dayIn, wallTimeIn } from '../../../src/platform/runtime/calendar.ts';
import { type Clock, html, type Part, withClock } from '../html.ts';

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
/** Returns the year of a day, which is shown only for days of a different year. */
const yearOf = (day: string) => day.slice(0, 4);
const noValue = '–';

/** Returns the name of the month of a day such as `2026-11-23`. */
export const monthOf = (day: string): string => months[Number(day.slice(5, 7)) - 1] ?? '';

/** Returns a day such as `2026-11-23` in words: "Mon 23 November". */
export function dayInWords(day: string, today: string): string {
  if (day === today) return 'today';
  if (day === dayAfter(today, -1)) return 'yesterday';
  if (day === dayAfter(today)) return 'tomorrow';
  const at = new Date(`${day}T00:00:00Z`);
  const words = `${at.getUTCDate()} ${months[at.getUTCMonth()]}`;
  if (yearOf(day) !== yearOf(today)) return `${words} ${yearOf(day)}`;
  return `${weekdays[at.getUTCDay()]} ${words}`;
}

/** Returns an instant in the time zone of the organization: "today, 09:31". */
export function timeWords({ timezone, now }: Clock, at: string): string {
  const [day = '', minute = ''] = wallTimeIn(timezone, Date.parse(at)).split(' ');
  return `${dayInWords(day, dayIn(timezone, now))}, ${minute}`;
}

/**
 * Draws an instant in the time zone of the organization; the tooltip has the exact time and the
 * zone.
 */
export function time(at: string): Part {
  return withClock((clock) => {
    const { timezone } = clock;
    const [day = '', minute = ''] = wallTimeIn(timezone, Date.parse(at)).split(' ');
    const words = timeWords(clock, at);
    const exact = `${day} ${minute} ${timezone}, ${at.slice(0, 19).replace('T', ' ')} UTC`;
    return html`<time datetime=${at} title=${exact}>${words}</time>`;
  });
}

/** Draws the time of day of an instant, for lists that are grouped by day. */
export function timeOfDay(at: string): Part {
  return withClock((clock) => {
    const hour = wallTimeIn(clock.timezone, Date.parse(at)).slice(11);
    return html`<time datetime=${at} title=${timeWords(clock, at)}>${hour}</time>`;
  });
}

/** Returns a part as a share of its whole, at most 1; null if the whole is 0. */
export function share(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.min(1, part / whole);
}

/** Returns a rate in percent: "97.6 %". */
export function percent(rate: number | null): string {
  return rate === null ? noValue : `${(rate * 100).toFixed(1)} %`;
}

/** Returns a number with commas between thousands: `1,234`. */
export function counted(value: number): string {
  return value.toLocaleString('en');
}

/** A change of a figure: `by` as text, such as `+3 %`; `tone` is `up` for an improvement. */
export interface Change {
  by: string;
  tone: 'up' | 'down' | 'flat';
}

/**
 * Returns the change of a count against the period before, in percent; undefined if that count was
 * 0.
 */
export function change(now: number, before: number): Change | undefined {
  if (before === 0) return undefined;
  const by = Math.round(((now - before) / before) * 100);
  return { by: `${by < 0 ? '−' : '+'}${counted(Math.abs(by))} %`, tone: 'flat' };
}
