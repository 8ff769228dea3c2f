// Types that do not depend on the operations.
import type { ApiErrorTag } from './index.js';

export interface SvcOptions {
  /** Address of the daemon, such as `https://mail.example.com`. */
  url: string;
  /** API key. */
  key: string;
  /** Tries after the first one, for answers that allow it. Default 3. */
  retries?: number;
  /** Time for one try, in ms. Default 60,000. */
  timeoutMs?: number;
  /** Longest wait that a server may ask for by `Retry-After`, in ms. Default 30,000. */
  maxDelayMs?: number;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

export interface RequestOptions {
  signal?: AbortSignal;
  retries?: number;
  timeoutMs?: number;
  maxDelayMs?: number;
}

export interface KeyedOptions extends RequestOptions {
  /** A repeat with the same key makes nothing twice. Default: one for all tries of this call. */
  idempotencyKey?: string;
}

export interface StreamOptions<Query> extends RequestOptions {
  /** Goes on after this event. */
  lastEventId?: string | null;
  /** Which events, such as `{ type: 'message.*' }`. */
  query?: Query;
}

type ItemOf<Page> = Page extends { items: Array<infer Item> } ? Item : never;

/** A list. Awaited, it is its first page. */
export interface List<Page> extends PromiseLike<Page>, AsyncIterable<ItemOf<Page>> {
  /** All pages, one after the other. */
  pages(): AsyncIterable<Page>;
}

/** The body of a request that is not JSON. */
export type RawBody = NonNullable<RequestInit['body']>;

/** Names of errors: those of the API, and those of the client. */
export type SvcErrorTag =
  | ApiErrorTag
  | 'ConnectionError'
  | 'UnexpectedAnswerError'
  | 'WebhookVerificationError'
  | 'AbortError';

export class SvcError extends Error {
  readonly _tag: SvcErrorTag;
  /** Status of the answer; null without one. */
  readonly status: number | null;
  /** Names the request in the log of the daemon. */
  readonly requestId: string | null;
  /** Problems by field, for a ValidationError. */
  readonly fields?: Record<string, string[]>;
  /** Kind and id of a missing resource. */
  readonly resource?: string;
  readonly id?: string;
  /** Nearest operation, for a path of another service. */
  readonly hint?: string;
  /** Seconds to wait, for a RateLimitedError. */
  readonly retryAfterSeconds?: number;
}
