// Times as people type them: an age (`10m`), or an instant.
import { UsageError } from './failure.ts';

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Returns the instant of an age or an instant in the past, in ISO 8601; undefined without the flag.
 * @throws UsageError
 */
export function timeFrom(flag: string, text: string | undefined, now: number): string | undefined {
  return instantOf(flag, text, now, -1);
}

/**
 * Returns the instant of a span from now or an instant in the future, in ISO 8601; undefined
 * without the flag.
 * @throws UsageError
 */
export function timeAhead(flag: string, text: string | undefined, now: number): string | undefined {
  return instantOf(flag, text, now, 1);
}

/** Parses a text only if it looks like ISO 8601: `Date.parse` reads "10" as a month. */
function instant(text: string): number {
  return /^\d{4}-\d{2}-\d{2}(?:[T ]|$)/i.test(text) ? Date.parse(text) : Number.NaN;
}

function instantOf(flag: string, text: string | undefined, now: number, sign: 1 | -1) {
  if (text === undefined) return undefined;
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const away = sign * Number(count) * (unitMs[unit] ?? 0);
  const ms = count === undefined ? instant(text) : now + away;
  if (Number.isNaN(ms)) {
    throw new UsageError(`${flag}: expected such as 90s, 10m, 1h or 7d, or an ISO 8601 instant`);
  }
  return new Date(ms).toISOString();
}
