// The fingerprint that tells an idempotent repeat from another request under the same key: SHA-256 over
// method, path and the canonical JSON of the validated body.
import { hash } from 'node:crypto';

/** Returns JSON with the keys of every object sorted; leaves out undefined values. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** Returns the hex SHA-256 of one request. */
export function fingerprint(method: string, path: string, body: unknown): string {
  return hash('sha256', `${method} ${path}\n${canonicalJson(body)}`, 'hex');
}
