/**
 * Replaces NUL in a text, as PostgreSQL stores none. Requests with NUL are refused earlier
 * (src/core/api/validate.ts). A remote server's text with NUL must not make settling or receiving
 * fail for ever.
 * @returns a value without NUL unchanged
 */
export function withoutNul(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
}
