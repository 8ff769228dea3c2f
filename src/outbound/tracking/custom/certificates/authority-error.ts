// The error for every problem with a certificate authority: a refusal, a rate limit, an invalid or
// missing answer.

export type AuthorityTrouble =
  /** The authority answered 4xx, or offers no challenge of the configured type. */
  | 'refused'
  /** 429, or the error type for a rate limit (RFC 8555 6.6). */
  | 'rate-limited'
  /** No connection, no answer in time, or a 5xx. */
  | 'unavailable'
  /** An answer that violates RFC 8555. */
  | 'unreadable';

export class AuthorityError extends Error {
  readonly trouble: AuthorityTrouble;
  /** Time until which the authority wants no request, ms since 1970; null if it named no time. */
  readonly retryAt: number | null;
  /** Error type of the answer (RFC 8555 6.7) without the prefix; empty without a type. */
  readonly problem: string;

  constructor(
    trouble: AuthorityTrouble,
    message: string,
    { retryAt = null, problem = '' }: { retryAt?: number | null; problem?: string } = {},
  ) {
    super(message);
    this.trouble = trouble;
    this.retryAt = retryAt;
    this.problem = problem;
  }
}
