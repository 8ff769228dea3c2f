// Patterns of events: `*`, a kind such as `message.sent`, or all kinds with a common beginning, as
// in `message.*`. Endpoints, the log and the streams read the same patterns.
import { type EventType, eventTypes } from './names.ts';

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
export function typesOf(patterns: readonly string[]): EventType[] {
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
