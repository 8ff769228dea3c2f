// What comes back of one post, read within its bounds: a handler of undici's `dispatch`. The streams and signals
// of its `request` would cost as much again as all else of a post.
import type { IncomingHttpHeaders } from 'node:http';

const mostAnswerBytes = 64 * 1024;

/** An answer of which every byte came. */
export interface WholeAnswer {
  statusCode: number;
  /** Of a header that came more than once, all values. */
  retryAfter: string | string[] | undefined;
  text: string;
}

/** `status`: it was answered, but not with a 2xx. */
export type ErrorClass =
  | 'dns'
  | 'refused-address'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'status'
  | 'response';

/** What was in the way of a whole answer. */
export class PostError extends Error {
  readonly errorClass: ErrorClass;
  /** What the answer began with; null where none did. */
  readonly statusCode: number | null;
  constructor(errorClass: ErrorClass, message: string, statusCode: number | null = null) {
    super(message);
    this.errorClass = errorClass;
    this.statusCode = statusCode;
  }
}

/** Ends an exchange that is under way: its connection is closed. */
interface Controller {
  abort(reason: Error): void;
}

/** The answer to one request, for which it is the handler. */
export class Answer {
  readonly #end = Promise.withResolvers<WholeAnswer>();
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #statusCode = 0;
  #retryAfter: string | string[] | undefined;
  #controller: Controller | null = null;
  #problem: PostError | null = null;

  /** Rejects with what was in the way: PostError, what the connection says. */
  get whole(): Promise<WholeAnswer> {
    return this.#end.promise;
  }

  /** Gives it up, at once; a request that still waits for a connection is not sent. */
  end(problem: PostError): void {
    this.#problem ??= problem;
    this.#end.reject(problem);
    this.#controller?.abort(problem);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    if (this.#problem !== null) controller.abort(this.#problem);
  }

  onResponseStart(_: Controller, statusCode: number, headers: IncomingHttpHeaders): void {
    // What comes before it (1xx, RFC 9110 15.2) is none.
    if (statusCode < 200) return;
    this.#statusCode = statusCode;
    this.#retryAfter = headers['retry-after'];
  }

  onResponseData(_: Controller, chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#bytes <= mostAnswerBytes) return;
    this.end(new PostError('response', 'the answer has more than 64 KB', this.#statusCode));
  }

  onResponseEnd(): void {
    const text = this.#bytes > 0 ? Buffer.concat(this.#chunks).toString('utf8') : '';
    this.#end.resolve({ statusCode: this.#statusCode, retryAfter: this.#retryAfter, text });
  }

  onResponseError(_: Controller | null, error: Error): void {
    this.#end.reject(error);
  }
}
