// Types that do not depend on the operations.
import type { ApiErrorTag } from './index.js';

export interface SvcOptions {
  /** Address of the daemon, such as `https://mail.example.com`. */
  url: string;
  /** API key. */
  key: string;
  /** Number of tries after the first try, for answers that allow a repeat. Default 3. */
  retries?: number;
  /** Time limit of a try, in ms. Default 60,000. */
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
  /**
   * A repeat with the same key creates nothing twice. Default: a new key, shared by all tries of a
   * call.
   */
  idempotencyKey?: string;
}

export interface StreamOptions<Query> extends RequestOptions {
  /** Id of an event: the stream continues after it. */
  lastEventId?: string | null;
  /** Filter of events, such as `{ type: 'message.*' }`. */
  query?: Query;
}

type ItemOf<Page> = Page extends { items: Array<infer Item> } ? Item : never;

/** A list. Awaiting it returns the first page. */
export interface List<Page> extends PromiseLike<Page>, AsyncIterable<ItemOf<Page>> {
  /** Yields all pages in sequence. */
  pages(): AsyncIterable<Page>;
}

/** The body of a request that is not JSON. */
export type RawBody = NonNullable<RequestInit['body']>;

/** Names of errors of the API and of the client. */
export type SvcErrorTag =
  | ApiErrorTag
  | 'ConnectionError'
  | 'UnexpectedAnswerError'
  | 'WebhookVerificationError'
  | 'AbortError';

export class SvcError extends Error {
  readonly _tag: SvcErrorTag;
  /** Status of the answer; null without an answer. */
  readonly status: number | null;
  /** Id of the request in the log of the daemon. */
  readonly requestId: string | null;
  /** Problems by field, for a ValidationError. */
  readonly fields?: Record<string, string[]>;
  /** Kind and id of the missing resource, for a ResourceNotFoundError. */
  readonly resource?: string;
  readonly id?: string;
  /** Nearest operation of this API, for a path of a different service. */
  readonly hint?: string;
  /** Seconds to wait, for a RateLimitedError. */
  readonly retryAfterSeconds?: number;
}
