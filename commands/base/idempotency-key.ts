// The flag `--idempotency-key` as the API takes the header (specification 8.3).
import { UsageError } from './failure.ts';

/** Returns the key, or null without the flag. @throws UsageError for an invalid key. */
export function idempotencyKeyFrom(flag: string | undefined): string | null {
  if (flag === undefined) return null;
  if (/^[^\0\r\n]{1,255}$/.test(flag)) return flag;
  throw new UsageError('--idempotency-key: expected 1 to 255 characters on one line');
}
