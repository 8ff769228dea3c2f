// Stalls of the daemon's event loop by the operation that held it, from its own metrics. The counts
// only grow, so that an attacker who reads the metrics hides no stall from the bench.

const sample = /^svc_stall_seconds_bucket\{le="([^"]*)",operation="([^"]*)"\} (\d+)$/gm;

/** Counts of stalls by operation, up to each number of seconds. */
export type Stalls = ReadonlyMap<string, ReadonlyMap<string, number>>;

export function stallsIn(metrics: string): Stalls {
  const stalls = new Map<string, Map<string, number>>();
  for (const [, le = '', operation = '', count] of metrics.matchAll(sample)) {
    const counts = stalls.get(operation) ?? new Map<string, number>();
    stalls.set(operation, counts.set(le, Number(count)));
  }
  return stalls;
}

export interface LongStalls {
  operation: string;
  /** Stalls of over 200 ms. */
  count: number;
  /** Longest of them, up to so many seconds. */
  upToSeconds: number;
}

/**
 * Returns the stalls of over 200 ms between two readings, the operation with most of them first.
 */
export function longStalls(before: Stalls, after: Stalls): LongStalls[] {
  const found = [...after].map(([operation, counts]) => {
    const grown = (le: string) => (counts.get(le) ?? 0) - (before.get(operation)?.get(le) ?? 0);
    const all = grown('+Inf');
    const upTo = [...counts.keys()].map(Number).find((le) => grown(String(le)) === all);
    return {
      ...{ operation, count: all - grown('0.2') },
      upToSeconds: upTo ?? Number.POSITIVE_INFINITY,
    };
  });
  return found.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
}
