// Turns the flag `--idempotency-key` into the header of the API (specification 8.3).
import { UsageError } from '../output/failure.ts';

/**
 * Returns the header with the key; empty without the flag.
 * @throws UsageError for an invalid key.
 */
export function idempotencyHeader(flag: string | undefined): Record<string, string> {
  if (flag === undefined) return {};
  if (/^[^\0\r\n]{1,255}$/.test(flag)) return { 'idempotency-key': flag };
  throw new UsageError('--idempotency-key: expected 1 to 255 characters on one line');
}
