// Times on the command line: an age (`10m`), or an instant.
import { Flags } from '@oclif/core';
import { UsageError } from '../output/failure.ts';

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const timeWords = '90s, 10m, 1h or 7d ago, or an instant';

/** The flag `--after`, with the alias `--since`; `things` are the listed resources. */
export function startFlag(things: string) {
  return {
    after: Flags.string({ aliases: ['since'], description: `Only ${things} since: ${timeWords}` }),
  };
}

/** The flags `--after` and `--before`, with the aliases `--since` and `--until`. */
export function rangeFlags(things: string) {
  return {
    ...startFlag(things),
    before: Flags.string({
      aliases: ['until'],
      description: `Only ${things} before: ${timeWords}`,
    }),
  };
}

/** Returns the values of these flags as times in ISO 8601. @throws UsageError */
export function rangeFrom(
  { after, before }: { after?: string | undefined; before?: string | undefined },
  now: number,
): { after: string | undefined; before: string | undefined } {
  return {
    after: timeFrom('--after', after, now),
    before: timeFrom('--before', before, now),
  };
}

/**
 * Returns the instant in ISO 8601 for an age or an instant; undefined without the flag. @throws
 * UsageError
 */
export function timeFrom(flag: string, text: string | undefined, now: number): string | undefined {
  return instantOf(flag, text, now, -1);
}

/**
 * Returns the instant in ISO 8601 for a duration from now; undefined without the flag. @throws
 * UsageError
 */
export function timeAhead(flag: string, text: string | undefined, now: number): string | undefined {
  return instantOf(flag, text, now, 1);
}

/**
 * Returns the seconds of a duration such as `24h`; undefined without the flag. @throws UsageError
 */
export function secondsFrom(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = durationMs(text);
  if (ms === undefined) throw new UsageError(`${flag}: expected such as 90s, 10m, 24h or 7d`);
  return ms / 1000;
}

/** Returns the milliseconds of a duration such as `24h`; undefined for a different text. */
export function durationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (unitMs[unit] ?? 0);
}

/** Parses a text only if it looks like ISO 8601: `Date.parse` reads "10" as a month. */
function instant(text: string): number {
  return /^\d{4}-\d{2}-\d{2}(?:[T ]|$)/i.test(text) ? Date.parse(text) : Number.NaN;
}

function instantOf(flag: string, text: string | undefined, now: number, sign: 1 | -1) {
  if (text === undefined) return undefined;
  const away = durationMs(text);
  const ms = away === undefined ? instant(text) : now + sign * away;
  if (Number.isNaN(ms)) {
    throw new UsageError(`${flag}: expected such as 90s, 10m, 1h or 7d, or an ISO 8601 instant`);
  }
  return new Date(ms).toISOString();
}
