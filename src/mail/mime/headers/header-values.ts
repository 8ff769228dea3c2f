// Reads values of header fields of received mail: encoded words, dates, priority and parameters.
// All readers are pure, linear and bounded, and return null or an empty result for unreadable
// values. header-addresses.ts reads address lists, message-ids.ts message ids.
import libmime from 'libmime';
import { withKnownCharsets } from '../charset/charset.ts';
import type { MailPriority } from '../parsed-mail.ts';
import { cleanLine } from './header-fields.ts';

const maxDateCharacters = 100;
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Hours from UTC by zone (RFC 5322 4.3). An unknown zone counts as UTC, as the RFC requires. */
const zoneHours: Partial<Record<string, number>> = {
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
};
const dateTime =
  /^(?:[a-z]{3,9}\.?,?\s*)?(\d{1,2})[\s-]+([a-z]{3})[a-z]*\.?[\s-]+(\d{2,4})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?\s*([+-]\d{4}|[a-z]{1,5})?/i;
const isoDateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/;

/**
 * Decodes RFC 2047 encoded words into a clean line, without an encoded CR, LF or NUL. Reads a
 * word in an unknown charset as UTF-8.
 */
export function decodeWords(value: string): string {
  return value.includes('=?') ? cleanLine(libmime.decodeWords(withKnownCharsets(value))) : value;
}

function zoneOffsetMinutes(zone: string | undefined): number {
  if (zone === undefined) return 0;
  if (!/^[+-]/.test(zone)) return (zoneHours[zone.toLowerCase()] ?? 0) * 60;
  const sign = zone.startsWith('-') ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5)));
}

function fullYear(digits: string): number {
  const year = Number(digits);
  if (digits.length === 2) return year < 50 ? 2000 + year : 1900 + year;
  return digits.length === 3 ? 1900 + year : year;
}

/**
 * Reads a Date value (RFC 5322 3.3 and 4.3, or ISO 8601) as ms since 1970, or returns null. Avoids
 * `Date.parse`, which reads `foo 1` as a date in 2001.
 */
export function readDate(value: string | null): number | null {
  if (value === null || value.length > maxDateCharacters) return null;
  const iso = isoDateTime.exec(value);
  if (iso) return asDate(Date.parse(iso[0]));
  const match = dateTime.exec(value);
  if (!match) return null;
  const [, day = '', monthName = '', year = '', hour, minute, second = '0', zone] = match;
  const month = months.indexOf(monthName.toLowerCase());
  if (month < 0 || Number(day) > 31 || Number(hour) > 23 || Number(minute) > 59) return null;
  const seconds = Math.min(Number(second), 59);
  const local = Date.UTC(fullYear(year), month, Number(day), Number(hour), Number(minute), seconds);
  return asDate(local - zoneOffsetMinutes(zone) * 60_000);
}

/** Returns the time if the API can print it, from 1970 to 9999; otherwise null. */
function asDate(ms: number): number | null {
  return ms >= 0 && ms < Date.UTC(10_000, 0) ? ms : null;
}

const priorityWords: Partial<Record<string, MailPriority>> = {
  high: 'high',
  urgent: 'high',
  highest: 'high',
  normal: 'normal',
  medium: 'normal',
  low: 'low',
  lowest: 'low',
  'non-urgent': 'low',
};

/**
 * Reads an Importance (RFC 4021 2.1.54), Priority, X-Priority (`1 (Highest)` to `5`) or
 * X-MSMail-Priority value. Null for an unknown value.
 */
export function readPriority(value: string): MailPriority | null {
  const digit = /^[1-5](?!\d)/.exec(value)?.[0];
  if (digit !== undefined) return digit < '3' ? 'high' : digit === '3' ? 'normal' : 'low';
  const word = /^[a-z-]+/.exec(value.toLowerCase())?.[0] ?? '';
  return Object.hasOwn(priorityWords, word) ? (priorityWords[word] ?? null) : null;
}

/**
 * Reads a structured value such as Content-Type: the value in lower case and the parameters (RFC
 * 2231). Comments are dropped (RFC 2045 5.1), as mailparser does in parts.
 */
export function readParameters(value: string | null): {
  value: string;
  parameters: Partial<Record<string, string>>;
} {
  if (value === null) return { value: '', parameters: {} };
  const parsed = libmime.parseHeaderValue(value, { stripComments: true });
  return { value: (parsed.value || '').toLowerCase().trim(), parameters: parsed.params };
}
