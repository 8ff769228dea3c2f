// Divides a limit between several daemons. Each daemon computes a part alone, from the number of
// live daemons and the rank of this daemon among them, so that all parts together never exceed the
// limit.

/** Number of live daemons, and the rank of a daemon among them. */
export interface Place {
  count: number;
  /** Position of the daemon in an order that all daemons share, from 0. */
  rank: number;
}

/**
 * Data from which the parts of a daemon are computed. Plain data, which can be sent to a thread.
 */
export interface Portion {
  /**
   * Present rank, and ranks of the last seconds, from which further daemons may still compute: the
   * smallest part counts. Empty while the rank is unknown: then the part is 0.
   */
  readonly places: readonly Place[];
  /** Connections that further daemons have above their parts, by the name of the limit. */
  readonly taken: Readonly<Record<string, number>>;
}

/** Portion of a daemon that is alone. */
export const wholePortion: Portion = { places: [{ count: 1, rank: 0 }], taken: {} };
/** Portion of a daemon with an unknown rank: every part is 0. */
export const noPortion: Portion = { places: [], taken: {} };

/**
 * Returns the part of a daemon in a whole number: equal parts, and a unit of the rest for some
 * daemons. The name of the limit decides for which daemons, so that they differ between limits.
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

/** Returns the FNV-1a hash of a text, which is equal in all daemons. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash;
}
