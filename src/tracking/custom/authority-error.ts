// What is in the way between us and a certificate authority, as one error: whatever its server does
// (says no, asks for peace, answers nonsense, or nothing) ends here.

export type AuthorityTrouble =
  /** It said no, for a reason of its own. */
  | 'refused'
  /** 429, or its own word for that (RFC 8555 6.6). */
  | 'rate-limited'
  /** No connection, no answer in time, or a 5xx. */
  | 'unavailable'
  /** An answer that is none of RFC 8555. */
  | 'unreadable';

export class AuthorityError extends Error {
  readonly trouble: AuthorityTrouble;
  /** Ms since 1970: it asked for peace until then. */
  readonly retryAt: number | null;
  /** The kind of problem (RFC 8555 6.7), without its prefix; '' where it named none. */
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
