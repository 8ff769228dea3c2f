// Times in sentences: the instant in UTC, and the distance from now.

const steps = [
  { unit: 'd', ms: 86_400_000 },
  { unit: 'h', ms: 3_600_000 },
  { unit: 'min', ms: 60_000 },
  { unit: 's', ms: 1_000 },
] as const;

/**
 * Formats a span as the two largest units, the second only if it is not zero: `2 h 5 min`, `40 s`.
 */
export function spanInWords(ms: number): string {
  const first = steps.findIndex((step) => ms >= step.ms);
  const large = steps[first];
  if (!large) return 'less than 1 s';
  const count = Math.floor(ms / large.ms);
  const small = steps[first + 1];
  const rest = small ? Math.floor((ms % large.ms) / small.ms) : 0;
  return `${count} ${large.unit}${small && rest > 0 ? ` ${rest} ${small.unit}` : ''}`;
}

/** Formats the distance from now: `in 4 min`, `3 h ago`, `now`. */
export function fromNow(at: number, now: number): string {
  if (Math.abs(at - now) < 1_000) return 'now';
  return at > now ? `in ${spanInWords(at - now)}` : `${spanInWords(now - at)} ago`;
}

/** Formats a time: `2026-01-05 12:04:00 UTC (in 4 min)`. */
export function timeInWords(at: number, now: number): string {
  const [day, time] = new Date(at).toISOString().split(/[T.]/);
  return `${day} ${time} UTC (${fromNow(at, now)})`;
}
