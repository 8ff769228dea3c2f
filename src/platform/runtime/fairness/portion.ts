// Divides a limit between several daemons. Each daemon computes its part alone, from the number of
// live daemons and its place among them, so that the parts never exceed the limit together.

/** Place of a daemon among the live daemons. */
export interface Place {
  count: number;
  /** Position in the order of daemons, from 0. */
  rank: number;
}

/** Parts of a daemon. Plain data, which can be sent to a thread. */
export interface Portion {
  /**
   * Present place, and the places of the last seconds, which other daemons may still use: the
   * smallest part counts. Empty for a daemon without a known place, which has no part.
   */
  readonly places: readonly Place[];
  /** Connections that other daemons have above their part, by lane. */
  readonly taken: Readonly<Record<string, number>>;
}

/** Portion of a daemon that is alone. */
export const wholePortion: Portion = { places: [{ count: 1, rank: 0 }], taken: {} };
/** Portion of a daemon without a known place. */
export const noPortion: Portion = { places: [], taken: {} };

/**
 * Returns the part of a whole number: equal parts, and the rest to some daemons. The name of the
 * limit chooses the first of them, so that the same daemons do not get the rest of every limit.
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

/** FNV-1a, which is equal in all daemons. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash;
}
