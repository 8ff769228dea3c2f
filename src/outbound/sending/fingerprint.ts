// The fingerprint that tells an idempotent repeat from a different request under the same key:
// SHA-256 over method, path and the canonical JSON of the validated body.
import { hash } from 'node:crypto';
import { canonicalJson } from '../../platform/runtime/canonical-json.ts';

/** Returns the hex SHA-256 of a request. */
export function fingerprint(method: string, path: string, body: unknown): string {
  return hash('sha256', `${method} ${path}\n${canonicalJson(body)}`, 'hex');
}
