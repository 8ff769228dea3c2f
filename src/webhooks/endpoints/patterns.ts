// Patterns of events for an endpoint: `*`, a kind such as `message.sent`, or all kinds with a
// common beginning, such as `message.*`.
import { eventTypes } from '../../history/events/names.ts';

const mostRemembered = 200;

function isMatch(pattern: string, type: string): boolean {
  if (pattern === '*' || pattern === type) return true;
  return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1));
}

/** Tells whether some event type matches the pattern. */
export function isKnownPattern(pattern: string): boolean {
  return eventTypes.some((type) => isMatch(pattern, type));
}

/** Returns all kinds that match any of the patterns. */
export function typesOf(patterns: readonly string[]): string[] {
  return eventTypes.filter((type) => patterns.some((pattern) => isMatch(pattern, type)));
}

/** Returns a function that tells whether a kind matches any of the patterns. */
export function matcherOf(patterns: readonly string[]): (type: string) => boolean {
  const known = new Map<string, boolean>();
  return (type) => {
    let found = known.get(type);
    if (found === undefined) {
      found = patterns.some((pattern) => isMatch(pattern, type));
      if (known.size < mostRemembered) known.set(type, found);
    }
    return found;
  };
}
