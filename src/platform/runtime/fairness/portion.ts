// The part of a limit that each of several daemons may use. Each daemon computes its part alone,
// from the number of live daemons and its place among them, so that the parts never add up to more
// than the limit.

/** The place of a daemon among the live daemons. */
export interface Place {
  count: number;
  /** From 0. */
  rank: number;
}

/** The parts of a daemon. Plain data, fit for a different thread. */
export interface Portion {
  /**
   * The place now, and the places of the last seconds, which other daemons may still go by: the
   * smallest part counts. Empty for a daemon without a known place: it has no part.
   */
  readonly places: readonly Place[];
  /** Connections that other daemons have in a lane above their part, by lane. */
  readonly taken: Readonly<Record<string, number>>;
}

/** The portion of a daemon that is alone. */
export const wholePortion: Portion = { places: [{ count: 1, rank: 0 }], taken: {} };
/** The portion of a daemon without a known place. */
export const noPortion: Portion = { places: [], taken: {} };

/**
 * Returns the part of a whole number: equal parts, and the rest to the first daemons from a place
 * that the name of the limit chooses. So the same daemons do not get the rest of every limit.
 */
export function partOf(limit: number, name: string, { places, taken }: Portion): number {
  let least = limit;
  for (const { count, rank } of places) {
    const rest = limit % count;
    const isFirst = rest > 0 && (rank + hashOf(name)) % count < rest;
    least = Math.min(least, Math.floor(limit / count) + (isFirst ? 1 : 0));
  }
  return places.length === 0 ? 0 : Math.max(0, least - (taken[name] ?? 0));
}

/** FNV-1a, equal in all daemons. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash;
}
