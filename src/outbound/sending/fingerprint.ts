// The fingerprint of a request: SHA-256 over method, path and the canonical JSON of the validated
// body. It distinguishes a repeat from a different request with the same idempotency key.
import { hash } from 'node:crypto';
import { canonicalJson } from '../../platform/runtime/canonical-json.ts';

/** Returns the hex SHA-256 of a request. */
export function fingerprint(method: string, path: string, body: unknown): string {
  return hash('sha256', `${method} ${path}\n${canonicalJson(body)}`, 'hex');
}
