// Reads Retry-After (RFC 9110 10.2.3).
import type { Clock } from '../../runtime/clock.ts';

/**
 * Returns the time in the header (seconds, or a date) in ms since 1970, at most `mostMs` from now.
 * Returns null if the header has no readable time in the future.
 */
export function retryAtOf(clock: Clock, header: string | null, mostMs: number): number | null {
  const text = header?.trim() ?? '';
  const now = clock.now();
  const at = /^[0-9]{1,15}$/.test(text) ? now + Number(text) * 1000 : httpDate(text);
  return at > now ? Math.min(at, now + mostMs) : null;
}

function httpDate(text: string): number {
  return /^[A-Z][a-z]{2,8},? .{10,40}$/.test(text) ? Date.parse(text) : Number.NaN;
}
