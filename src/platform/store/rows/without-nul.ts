/**
 * Replaces NUL in a text, because PostgreSQL cannot store it. Requests with NUL are refused earlier
 * (src/core/api/validate.ts), but a remote server's text with NUL must not make settling or
 * receiving fail for ever.
 * @returns a value without NUL unchanged
 */
export function withoutNul(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
}
