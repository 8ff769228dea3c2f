// Makes equal JSON texts for equal values, so that digests of the texts are equal.

/** Returns JSON with the keys of every object sorted. Leaves out fields that are undefined. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
